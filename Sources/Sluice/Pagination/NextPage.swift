import SluiceHTTP

/// What leads from a page to the next one.
enum NextPage: Sendable, Equatable {
    /// There is none.
    case none
    /// A URL, or a reference that is relative to the URL of the page.
    case url(String)
    /// The same request with another value of an item of its query.
    case query(String, String)
}

/// A page, as that is judged which leads to the next.
struct PageView<Model: Sendable>: Sendable {
    let model: Model
    let response: ServerResponse
    /// How many pages there have been, this one included.
    let number: Int
    /// How many items it has, and how many there have been with it; 0 where nobody counts them.
    let items: Int
    let total: Int
}

extension RequestDraft {
    /// The request for the next page.
    ///
    /// - Parameters:
    ///   - page: What leads there.
    ///   - url: The URL of the page that said so.
    ///   - origin: That of the first page.
    ///   - followsOtherOrigins: Whether the next page may be elsewhere. Headers that hold secrets stay behind then.
    ///   - pipeline: What it is sent through.
    /// - Returns: The request; nil if there is no next page.
    /// - Throws: ``SluiceError/Code/paginationRefused``, and what keeps a request from being built.
    func next(
        _ page: NextPage,
        from url: String,
        origin: HTTPOrigin,
        followsOtherOrigins: Bool,
        for pipeline: Pipeline
    ) throws(SluiceError) -> RequestDraft? {
        switch page {
        case .none:
            return nil
        case .query(let name, let value):
            var location = try wholeLocation(for: pipeline)
            location.replaceQueryItem(name, value)
            return replacingLocation(with: location)
        case .url(let reference):
            let location: RequestLocation
            do {
                location = try RequestLocation(URIReference(reference).resolved(against: URIReference(url)))
            } catch {
                throw .paginationRefused("The next page is where no request can go. \(error.reason)", error)
            }
            var next = replacingLocation(with: location)
            if HTTPOrigin(scheme: location.scheme, authority: location.authority) == origin { return next }
            guard followsOtherOrigins else {
                throw .paginationRefused(
                    "The next page is at another origin than the first, which might learn secrets from the request; "
                        + "allow it with followsOtherOrigins."
                )
            }
            // Without these the client's headers know that they are among strangers.
            next.host = nil
            next.baseURL = nil
            let secrets = pipeline.steps.secretHeaders + options.steps.requestInterceptors.secretHeaders
            for name in [HTTPHeaderName.authorization, .cookie, .proxyAuthorization] + secrets {
                next.headers.remove(name)
            }
            return next
        }
    }

    /// The same with a whole URL in place of its path and query.
    private func replacingLocation(with location: RequestLocation) -> RequestDraft {
        let url = "\(location.scheme)://\(location.authority)\(location.target)"
        var moved = RequestDraft(method: method, path: url)
        moved.headers = headers
        moved.body = body
        var options = options
        if !hasParametersInBody { options.parameters = [] }
        options.route = route ?? RoutePattern.route(of: path)
        moved.options = options
        return moved
    }
}

extension RequestLocation {
    /// Puts a value in the place of the first item of that name, and takes others of it away; adds it if there is none.
    mutating func replaceQueryItem(_ name: String, _ value: String) {
        var bytes: [UInt8] = []
        PercentEncoding.append(component: name, to: &bytes)
        let encodedName = String(decoding: bytes, as: UTF8.self)
        bytes.append(UInt8(ascii: "="))
        PercentEncoding.append(component: value, to: &bytes)
        let item = Substring(String(decoding: bytes, as: UTF8.self))
        var items: [Substring] = []
        var isReplaced = false
        for other in (query ?? "").utf8.split(separator: UInt8(ascii: "&")).map(Substring.init) {
            let otherName = Substring(other.utf8.prefix { $0 != UInt8(ascii: "=") })
            guard otherName == encodedName || otherName == name else {
                items.append(other)
                continue
            }
            if !isReplaced { items.append(item) }
            isReplaced = true
        }
        if !isReplaced { items.append(item) }
        query = items.joined(separator: "&")
    }
}

extension SluiceError.Code {
    /// The next page is where the request may not go: at another origin, or at no URL for requests.
    public static let paginationRefused = SluiceError.Code("paginationRefused")
    /// The next page is one that has been there already.
    public static let paginationLoop = SluiceError.Code("paginationLoop")
    /// What was to lead to the next page threw.
    public static let paginationFailed = SluiceError.Code("paginationFailed")
}

extension SluiceError {
    fileprivate static func paginationRefused(_ reason: String, _ cause: SluiceError? = nil) -> SluiceError {
        SluiceError(.paginationRefused, reason, step: .recovery, underlyingError: cause)
    }
}
