#if os(Linux)
import Foundation
import SluiceHTTP
import SluiceTesting

@testable import SluiceEngine

/// A response whose body was read to its end.
struct ReadResponse: Sendable {
    let status: HTTPStatus
    let body: Data
    let metrics: TransferMetrics?

    var text: String { String(decoding: body, as: UTF8.self) }
}

extension SocketTransport {
    /// Creates a transport whose configuration differs from the defaults.
    init(_ change: (inout Configuration) -> Void) {
        var configuration = Configuration()
        change(&configuration)
        self.init(configuration: configuration)
    }

    /// Sends a request and reads the response to its end.
    func exchange(
        _ request: HTTPRequest,
        _ context: TransferContext = TransferContext()
    ) async throws(SluiceError) -> ReadResponse {
        let response = try await send(request, context: context)
        let body = try await response.body.collect()
        return ReadResponse(status: response.head.status, body: body, metrics: response.body.metrics)
    }

    /// Sends a request and reads the response to its end, or returns the error.
    func result(
        of request: HTTPRequest,
        _ context: TransferContext = TransferContext()
    ) async -> Result<ReadResponse, SluiceError> {
        do throws(SluiceError) {
            return .success(try await exchange(request, context))
        } catch {
            return .failure(error)
        }
    }

    /// Returns the error of a request; nil if it succeeds.
    func failure(of request: HTTPRequest, _ context: TransferContext = TransferContext()) async -> SluiceError? {
        await result(of: request, context).error
    }

    /// True if no request has a slot or waits for one.
    var isQuiet: Bool { pool.map { $0.load.active == 0 && $0.load.queued == 0 } ?? false }

    /// True if at least one connection is idle.
    var hasIdle: Bool { pool.map { $0.oldestIdle != .distantFuture } ?? false }

    /// The number of requests that wait for a slot.
    var queued: Int { pool?.load.queued ?? -1 }
}

extension Result {
    /// The error; nil for success.
    var error: Failure? {
        if case .failure(let error) = self { error } else { nil }
    }
}

extension LoopbackServer {
    /// Creates a request to this server.
    func request(
        _ path: String,
        method: HTTPMethod = .get,
        host: String? = nil,
        headers: HTTPHeaders = [:],
        body: RequestBody = .none
    ) -> HTTPRequest {
        let authority = host.map { "\($0):\(port)" } ?? self.authority
        return HTTPRequest(
            method: method,
            scheme: "http",
            authority: authority,
            path: path,
            headers: headers,
            body: body
        )
    }
}

extension TestListener {
    /// Creates a request to this server.
    func request(
        _ path: String = "/",
        scheme: String = "http",
        method: HTTPMethod = .get,
        headers: HTTPHeaders = [:],
        body: RequestBody = .none
    ) -> HTTPRequest {
        HTTPRequest(method: method, scheme: scheme, authority: authority, path: path, headers: headers, body: body)
    }
}

extension ResponseBody {
    /// Reads the body to its end. Returns its bytes, and its error or nil.
    func readToEnd() async -> (Data, SluiceError?) {
        var received = Data()
        var iterator = makeAsyncIterator()
        do throws(SluiceError) {
            while let chunk = try await iterator.next(isolation: nil) { received.append(chunk) }
            return (received, nil)
        } catch {
            return (received, error)
        }
    }
}

extension TransferContext {
    /// A context in which all host names resolve to 127.0.0.1.
    static var anyHost: TransferContext {
        var connection = ConnectionOptions()
        connection.proxy = .none
        connection.hostAddresses = ["*": [IPAddress(127, 0, 0, 1)]]
        return TransferContext(connection: connection)
    }

    /// A context for HTTP/1.1 over TLS.
    static func http1(_ tls: TLSConfiguration, timeouts: Timeouts = Timeouts()) -> TransferContext {
        var connection = ConnectionOptions()
        connection.proxy = .none
        connection.tls = tls
        connection.httpVersion = .http1
        return TransferContext(timeouts: timeouts, connection: connection)
    }
}
#endif
