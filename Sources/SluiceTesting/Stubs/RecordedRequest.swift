import SluiceHTTP

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A request as a ``StubTransport`` or a ``CassetteTransport`` saw it, its body in memory.
public struct RecordedRequest: Sendable {
    /// The method.
    public var method: HTTPMethod
    /// The whole URL, query included.
    public var url: String
    /// The header fields in their order.
    public var headers: HTTPHeaders
    /// The body; no bytes where there was none.
    public var body: Data
    /// What stood in the place of `{names}` in the path pattern of the rule that took it, percent-decoded.
    public internal(set) var pathParameters: [String: String] = [:]

    /// Makes a request of its parts.
    public init(method: HTTPMethod = .get, url: String, headers: HTTPHeaders = [:], body: Data = Data()) {
        self.method = method
        self.url = url
        self.headers = headers
        self.body = body
    }

    init(_ request: HTTPRequest, body: Data) {
        self.init(method: request.method, url: request.url, headers: request.headers, body: body)
    }

    /// The path without query, percent-encoded; a slash at least.
    public var path: String {
        let path = target.prefix { $0 != "?" && $0 != "#" }
        return path.isEmpty ? "/" : String(path)
    }

    /// Host and, where it is not the scheme's own, port.
    public var authority: String {
        let behind = url.firstRange(of: "://").map { url[$0.upperBound...] } ?? url[...]
        return String(behind.prefix { $0 != "/" && $0 != "?" && $0 != "#" })
    }

    /// The items of the query in their order, percent-decoded; one without a `=` has no value.
    public var queryItems: [(name: String, value: String?)] {
        guard let mark = target.firstIndex(of: "?") else { return [] }
        let query = target[target.index(after: mark)...].prefix { $0 != "#" }
        return FormItems.items(of: query).map { ($0.name, $0.value) }
    }

    /// The body as text; nil where it is no UTF-8.
    public var text: String? { String(validating: body, as: UTF8.self) }

    /// The body as a value.
    ///
    /// - Parameters:
    ///   - type: What to decode from JSON.
    ///   - decoder: What decodes it.
    /// - Returns: The value.
    /// - Throws: What the decoder throws.
    public func decoded<Value: Decodable>(
        as type: Value.Type = Value.self,
        by decoder: JSONDecoder = JSONDecoder()
    ) throws -> Value {
        try decoder.decode(type, from: body)
    }

    private var target: Substring {
        let behind = url.firstRange(of: "://").map { url[$0.upperBound...] } ?? url[...]
        return behind.drop { $0 != "/" && $0 != "?" && $0 != "#" }
    }
}

extension RecordedRequest: CustomStringConvertible, CustomReflectable {
    /// Method and URL without user name and query.
    public var description: String {
        "\(method) \(SecretRules.usual.url(String(url.prefix { $0 != "?" && $0 != "#" })))"
    }

    /// What `dump` shows: method, the URL without its secrets, the names of the header fields, and how long the body is.
    public var customMirror: Mirror {
        Mirror(
            self,
            children: [
                "method": method, "url": SecretRules.usual.url(url), "headers": headers, "body": "\(body.count) bytes",
            ],
            displayStyle: .struct
        )
    }
}

extension HTTPRequest {
    /// The same request with its body in memory, and the context with what is left of its total time.
    ///
    /// - Parameter context: Time-outs; the total one holds for reading the body too.
    /// - Returns: The request, its body, and the context to send it in.
    /// - Throws: What fails the body, or a time-out.
    func withBodyInMemory(
        _ context: TransferContext
    ) async throws(SluiceError) -> (request: HTTPRequest, body: Data, context: TransferContext) {
        switch body.source {
        case .none: return (self, Data(), context)
        case .data(let data): return (self, data, context)
        case .file, .stream, .deferred: break
        }
        let start = ContinuousClock.now
        let data = try await TimedWork.outcome(within: context.timeouts.total) { [body] () async throws(SluiceError) in
            try await body.read()
        }
        var request = self
        var context = context
        request.body = .data(data)
        context.timeouts.total = context.timeouts.total.map { max(.zero, $0 - start.duration(to: .now)) }
        return (request, data, context)
    }
}

extension HTTPBody {
    fileprivate func read() async throws(SluiceError) -> Data {
        let body = try await prepared(within: nil)
        switch body.source {
        case .none: return Data()
        case .data(let data): return data
        case .file, .deferred: throw SluiceError(.unsupported, "The request's body could not be prepared.")
        case .stream(let stream):
            let read = stream.open()
            var all = Data()
            do {
                while let chunk = try await read() { all.append(chunk) }
            } catch let error as SluiceError {
                throw error
            } catch is CancellationError {
                throw .cancelled
            } catch {
                throw SluiceError(.bodyUnavailable, "The request's body could not be read.", underlyingError: error)
            }
            if let length = body.length, length != Int64(all.count) {
                let reason = "The request's body has \(all.count) bytes, but had announced \(length)."
                throw SluiceError(.bodyLengthMismatch, reason)
            }
            return all
        }
    }
}
