import SluiceHTTP

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// All that a request says of itself, without its types.
struct RequestDraft: Sendable {
    /// Makes the body when the request is sent, so that what cannot be encoded fails the request, not the modifier.
    typealias BodyEncoder = @Sendable (APIClient.Configuration) throws -> HTTPBody

    var method = HTTPMethod.get
    var path: String
    var query: [QueryItem] = []
    var headers: HTTPHeaders = [:]
    var contentType: String?
    var body: BodyEncoder?
    var timeouts: Timeouts?
    var limits: ResponseLimits?
    var validation: Validation?

    struct QueryItem: Sendable, Equatable {
        let name: String
        let value: String?
    }

    /// Makes the request that goes into the pipeline.
    func build(for pipeline: Pipeline) throws(SluiceError) -> HTTPRequest {
        let target = try target(from: pipeline.base)
        var request = HTTPRequest(
            method: method,
            scheme: target.scheme,
            authority: target.authority,
            path: target.path,
            headers: mergedHeaders(with: pipeline.configuration.headers)
        )
        if let body {
            if let contentType, !request.headers.contains(.contentType) {
                request.headers.append(.contentType, contentType)
            }
            do {
                request.body = try body(pipeline.configuration)
            } catch {
                throw SluiceError(
                    .encodingFailed,
                    "The request's body could not be encoded.",
                    step: .building,
                    request: request,
                    underlyingError: error
                )
            }
        }
        return request
    }

    private func mergedHeaders(with defaults: HTTPHeaders) -> HTTPHeaders {
        if headers.isEmpty { return defaults }
        var merged = HTTPHeaders()
        for field in defaults where !headers.contains(field.name) { merged.append(field.name, field.value) }
        merged.append(contentsOf: headers)
        return merged
    }

    private func target(
        from base: Result<BaseURL, SluiceError>
    ) throws(SluiceError) -> (scheme: String, authority: String, path: String) {
        if isWholeURL {
            let url = try BaseURL.parse(path).get()
            return (url.scheme, url.authority, joined(url.path.isEmpty ? "/" : url.path, url.query))
        }
        let base = try base.get()
        let relative = path.prefix { $0 != "#" }
        let question = relative.firstIndex(of: "?")
        let appended = PercentEncoding.completed(String(relative[..<(question ?? relative.endIndex)]))
        var query = base.query
        if let question {
            let own = PercentEncoding.completed(String(relative[relative.index(after: question)...]))
            query = query.map { "\($0)&\(own)" } ?? own
        }
        let full = appended.isEmpty || appended.hasPrefix("/") ? base.path + appended : "\(base.path)/\(appended)"
        return (base.scheme, base.authority, joined(full.isEmpty ? "/" : full, query))
    }

    /// Whether the path is a URL in the base URL's place; a scheme's case does not matter (RFC 3986 §3.1).
    private var isWholeURL: Bool {
        guard let scheme = path.utf8.firstIndex(of: UInt8(ascii: ":")).map({ path[..<$0].lowercased() }) else {
            return false
        }
        return (scheme == "http" || scheme == "https") && path.dropFirst(scheme.count).hasPrefix("://")
    }

    private func joined(_ path: String, _ existing: String?) -> String {
        if query.isEmpty { return existing.map { "\(path)?\($0)" } ?? path }
        var text = existing.map { $0.isEmpty ? "" : "\($0)&" } ?? ""
        for (index, item) in query.enumerated() {
            if index > 0 { text += "&" }
            text += PercentEncoding.component(item.name)
            if let value = item.value { text += "=" + PercentEncoding.component(value) }
        }
        return "\(path)?\(text)"
    }
}
