import SluiceHTTP

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension APIRequest {
    /// Sets the method; GET by default.
    public func method(_ method: HTTPMethod) -> Self { modified { $0.method = method } }
    /// Makes it a GET.
    public func get() -> Self { method(.get) }
    /// Makes it a HEAD.
    public func head() -> Self { method(.head) }
    /// Makes it a POST.
    public func post() -> Self { method(.post) }
    /// Makes it a PUT.
    public func put() -> Self { method(.put) }
    /// Makes it a PATCH.
    public func patch() -> Self { method(.patch) }
    /// Makes it a DELETE.
    public func delete() -> Self { method(.delete) }

    /// Replaces the path, which is appended to the base URL, or is a whole URL in its place.
    public func path(_ path: String) -> Self { modified { $0.path = path } }

    /// Adds a query item behind those there are; one without a value when it is nil.
    public func query(_ name: String, _ value: String?) -> Self {
        modified { $0.query.append(RequestDraft.QueryItem(name: name, value: value)) }
    }

    /// Adds a query item of a number or a boolean.
    public func query(_ name: String, _ value: some LosslessStringConvertible & Sendable) -> Self {
        query(name, value.description as String?)
    }

    /// Adds query items in their order.
    public func query(_ items: KeyValuePairs<String, String?>) -> Self {
        modified { draft in
            for (name, value) in items { draft.query.append(RequestDraft.QueryItem(name: name, value: value)) }
        }
    }

    /// Sets a header, in place of the request's and the client's of the same name; nil takes the request's own away.
    public func header(_ name: HTTPHeaderName, _ value: String?) -> Self { modified { $0.headers[name] = value } }

    /// Sets several headers, each in place of the request's and the client's of the same name.
    public func headers(_ headers: HTTPHeaders) -> Self {
        modified { draft in
            for field in headers { draft.headers.remove(field.name) }
            draft.headers.append(contentsOf: headers)
        }
    }

    /// Sends a body; a GET becomes a POST, other methods stay.
    ///
    /// - Parameters:
    ///   - body: Bytes, a file or a stream.
    ///   - contentType: The `Content-Type`, unless a header says another.
    /// - Returns: A copy with that body.
    public func body(_ body: HTTPBody, contentType: String? = nil) -> Self {
        encodedBody(contentType: contentType) { _ in body }
    }

    /// Sends a value as JSON; a GET becomes a POST, other methods stay.
    ///
    /// The value is encoded when the request is sent: what cannot be encoded fails it with
    /// ``SluiceError/Code/encodingFailed``.
    ///
    /// - Parameters:
    ///   - value: What to encode.
    ///   - encoder: The encoder, nil for the client's.
    /// - Returns: A copy with that body.
    public func json(_ value: some Encodable & Sendable, encoder: JSONEncoder? = nil) -> Self {
        encodedBody(contentType: "application/json") { configuration in
            .data(try (encoder ?? configuration.encoder).encode(value))
        }
    }

    /// Sets time-outs; what is left out keeps its value.
    ///
    /// - Parameters:
    ///   - total: From the call to the last byte, redirects included.
    ///   - connect: Until the connection stands.
    ///   - idle: Without a byte in either direction.
    /// - Returns: A copy with those time-outs.
    public func timeout(total: Duration? = nil, connect: Duration? = nil, idle: Duration? = nil) -> Self {
        var timeouts = draft.timeouts ?? client.configuration.timeouts
        if let total { timeouts.total = total }
        if let connect { timeouts.connect = connect }
        if let idle { timeouts.idle = idle }
        return self.timeouts(timeouts)
    }

    /// Sets all time-outs at once; nil in one of them stands for none.
    public func timeouts(_ timeouts: Timeouts) -> Self { modified { $0.timeouts = timeouts } }

    /// Sets the limits on the response.
    public func limits(_ limits: ResponseLimits) -> Self { modified { $0.limits = limits } }

    /// Sets which responses are successes, in place of the client's rules.
    public func validate(_ validation: Validation) -> Self { modified { $0.validation = validation } }

    /// Accepts these statuses only, and whatever else the rules so far ask for.
    public func validate(statuses: Range<Int>...) -> Self {
        var validation = draft.validation ?? client.configuration.validation
        validation.statuses = statuses
        return validate(validation)
    }

    private func encodedBody(contentType: String?, _ encode: @escaping RequestDraft.BodyEncoder) -> Self {
        modified { draft in
            if draft.method == .get { draft.method = .post }
            draft.body = encode
            draft.contentType = contentType
        }
    }
}
