import SluiceHTTP

/// Where a request goes: the parts of its URL, percent-encoded.
struct RequestLocation: Sendable, Equatable {
    var scheme: String
    var authority: String
    /// Empty or beginning with a slash.
    var path: String
    /// Without the question mark; nil if there is none.
    var query: String?

    /// Path and query as they stand in a request line.
    var target: String {
        let path = path.isEmpty ? "/" : path
        return query.map { "\(path)?\($0)" } ?? path
    }

    /// Adds items to the query, behind those there are.
    mutating func add(_ parts: [QueryPart], _ encoder: URLEncodedFormEncoder) throws(SluiceError) {
        guard !parts.isEmpty else { return }
        var text = query ?? ""
        var isAdding = false
        for part in parts {
            let item: String
            switch part {
            case .item(let name, let value):
                item =
                    value.map { "\(PercentEncoding.component(name))=\(PercentEncoding.component($0))" }
                    ?? PercentEncoding.component(name)
            case .encoded(let parameters):
                item = try parameters.text(by: encoder)
                if item.isEmpty { continue }
            }
            if !text.isEmpty { text += "&" }
            text += item
            isAdding = true
        }
        if isAdding { query = text }
    }

    /// Takes another host, and scheme where it names one.
    mutating func move(to host: String) throws(SluiceError) {
        let origin = try RequestLocation(parsing: host.contains("://") ? host : "\(scheme)://\(host)")
        guard origin.path.isEmpty || origin.path == "/", origin.query == nil else {
            throw .invalidURL("the alternative host has a path or query")
        }
        scheme = origin.scheme
        authority = origin.authority
    }
}

extension RequestDraft {
    /// Makes the location of base URL, path and host; the query items are still to be added.
    func location(for pipeline: Pipeline) throws(SluiceError) -> RequestLocation {
        var location = try unmovedLocation(for: pipeline)
        if let host { try location.move(to: host) }
        location.path = DotSegments.removing(from: location.path)
        return location
    }

    private func unmovedLocation(for pipeline: Pipeline) throws(SluiceError) -> RequestLocation {
        if isWholeURL { return try RequestLocation(parsing: path) }
        let builder = urlBuilder ?? pipeline.configuration.urlBuilder
        switch builder.way {
        case .appending:
            let base = try base(for: pipeline)
            return base.appending(path)
        case .relative:
            return try base(for: pipeline).resolving(path)
        case .custom(let build):
            let url: String
            do {
                url = try build(baseURL ?? pipeline.baseURL, path)
            } catch let error as SluiceError {
                throw error
            } catch {
                throw SluiceError(
                    .invalidURL,
                    "The URL could not be built.",
                    step: .building,
                    underlyingError: error
                )
            }
            return try RequestLocation(parsing: url)
        }
    }

    private func base(for pipeline: Pipeline) throws(SluiceError) -> RequestLocation {
        if let baseURL { return try RequestLocation(parsing: baseURL) }
        return try pipeline.base.get()
    }

    /// Whether the path is a URL in the base URL's place; a scheme's case does not matter (RFC 3986 §3.1).
    private var isWholeURL: Bool {
        let bytes = path.utf8
        guard let colon = bytes.firstIndex(of: UInt8(ascii: ":")), bytes[colon...].starts(with: "://".utf8) else {
            return false
        }
        let scheme = path[..<colon].lowercased()
        return scheme == "http" || scheme == "https"
    }
}

extension RequestLocation {
    /// Appends a path with one slash between, and its query to the query there is; its fragment is dropped.
    fileprivate func appending(_ reference: String) -> RequestLocation {
        let relative = reference.prefix { $0 != "#" }
        let question = relative.firstIndex(of: "?")
        let appended = PercentEncoding.completed(String(relative[..<(question ?? relative.endIndex)]))
        var location = self
        if location.path.hasSuffix("/") { location.path.removeLast() }
        location.path += appended.isEmpty || appended.hasPrefix("/") ? appended : "/\(appended)"
        if let question {
            let own = PercentEncoding.completed(String(relative[relative.index(after: question)...]))
            location.query = query.map { "\($0)&\(own)" } ?? own
        }
        return location
    }
}
