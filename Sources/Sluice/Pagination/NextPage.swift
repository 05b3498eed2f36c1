import SluiceHTTP

enum NextPage: Sendable, Equatable {
    /// There is no next page.
    case none
    /// A URL, or a reference relative to the URL of the current page.
    case url(String)
    /// The same request with a new value for a query item.
    case query(String, String)
}

/// A page, as the input of a pagination strategy.
struct PageView<Model: Sendable>: Sendable {
    let model: Model
    let response: ServerResponse
    /// The number of pages so far, including this one.
    let number: Int
    /// The number of items on this page and on all pages so far; 0 if the strategy does not count items.
    let items: Int
    let total: Int
}

extension RequestDraft {
    /// Creates the request for the next page.
    ///
    /// - Parameters:
    ///   - page: The location of the next page.
    ///   - current: The request of the current page, after redirects.
    ///   - isRedirected: True if a redirect led to that request.
    ///   - origin: The origin of the first page.
    ///   - followsOtherOrigins: True if the next page may have another origin. Headers that contain secrets and
    ///     credentials are then removed.
    ///   - pipeline: The pipeline that sends the request.
    /// - Returns: The request, or nil if there is no next page.
    /// - Throws: ``SluiceError/Code/paginationRefused``, or the error that prevents the request from being built.
    func next(
        _ page: NextPage,
        from current: HTTPRequest,
        isRedirected: Bool = false,
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
                location = try RequestLocation(
                    URIReference(reference).resolved(against: URIReference(current.url)).withoutEmptyPort,
                    as: "URL “\(RequestLocation.redacted(reference))”"
                )
            } catch {
                throw .paginationRefused("The next page cannot be requested. \(error.reason)", error)
            }
            var next = replacingLocation(with: location)
            // A page that a redirect has moved to another origin does not choose the URLs at which the caller's secrets are used.
            let isForeign = isRedirected && current.origin != origin
            guard location.origin == origin && !isForeign || followsOtherOrigins else {
                let page = location.origin == origin ? "current" : "next"
                throw .paginationRefused(
                    "The \(page) page has another origin than the first page, and the request may contain secrets. "
                        + "Allow this with followsOtherOrigins."
                )
            }
            if location.origin == origin { return next }
            // Away from its base URL, and without a host of its own, the request gets no client headers that contain secrets.
            next.host = nil
            if (try? next.base(for: pipeline)) == nil { next.baseURL = "\(origin)" }
            let secrets = pipeline.steps.secretHeaders + options.steps.requestInterceptors.secretHeaders
            for name in RedirectPolicy.boundToOrigin + secrets { next.headers.remove(name) }
            if let own = next.options.credentials { next.options.credentials = .some(own?.bound(to: origin)) }
            return next
        }
    }

    /// Returns a copy of the request with a complete URL instead of its path and query.
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
    /// Replaces the value of the first item with that name, in any encoding, and removes the other items with it.
    /// Appends the item if there is none.
    mutating func replaceQueryItem(_ name: String, _ value: String) {
        var bytes: [UInt8] = []
        PercentEncoding.append(component: name, to: &bytes)
        bytes.append(UInt8(ascii: "="))
        PercentEncoding.append(component: value, to: &bytes)
        let item = Substring(String(decoding: bytes, as: UTF8.self))
        var items: [Substring] = []
        var isReplaced = false
        for other in (query ?? "").utf8.split(separator: UInt8(ascii: "&")) {
            let otherName = other.prefix { $0 != UInt8(ascii: "=") }
            let decodedName = PercentEncoding.decoded(otherName, plusIsSpace: true)
            guard decodedName.elementsEqual(name.utf8) || otherName.elementsEqual(name.utf8) else {
                items.append(Substring(other))
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
    /// The next page has another origin, or a URL that no request can be sent to.
    public static let paginationRefused = SluiceError.Code("paginationRefused")
    /// The request for the next page has already been sent.
    public static let paginationLoop = SluiceError.Code("paginationLoop")
    /// The closure that creates the request for the next page threw an error.
    public static let paginationFailed = SluiceError.Code("paginationFailed")
}

extension SluiceError {
    fileprivate static func paginationRefused(_ reason: String, _ cause: SluiceError? = nil) -> SluiceError {
        SluiceError(.paginationRefused, reason, step: .recovery, underlyingError: cause)
    }
}
