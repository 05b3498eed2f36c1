import SluiceHTTP

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The response of a ``LoopbackServer``: a script of bytes to write, pauses, and ways to break the connection.
public struct LoopbackResponse: Sendable {
    /// A step for the thread of the connection.
    enum Action: Sendable {
        /// Writes a head.
        case head(ResponseHead)
        /// Writes body bytes, already framed. Writes nothing in a response to HEAD.
        case body(Data)
        /// Writes bytes for any request method.
        case bytes(Data)
        /// Performs the actions of the response that a closure returns for the request.
        case answer(@Sendable (LoopbackRequest) -> LoopbackResponse)
        case pause(Duration)
        case wait(LoopbackSignal)
        /// Writes the same bytes repeatedly until the client disconnects.
        case endless(Data)
        case hang
        case close
        case reset
    }

    var actions: [Action]

    init(_ actions: Action...) {
        self.actions = actions
    }

    init(actions: [Action]) {
        self.actions = actions
    }
}

extension LoopbackResponse {
    /// Sends a JSON text without checking it.
    public static func json(_ text: String, status: HTTPStatus = .ok, headers: HTTPHeaders = [:]) -> LoopbackResponse {
        .data(Data(text.utf8), contentType: "application/json", status: status, headers: headers)
    }

    /// Sends a value as JSON. If encoding fails, sends a 500 response with the reason.
    public static func json(
        encoding value: some Encodable,
        status: HTTPStatus = .ok,
        headers: HTTPHeaders = [:]
    ) -> LoopbackResponse {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        do {
            let data = try encoder.encode(value)
            return .data(data, contentType: "application/json", status: status, headers: headers)
        } catch {
            return .text("The response cannot be encoded: \(error)", status: .internalServerError)
        }
    }

    /// Sends plain text in UTF-8.
    public static func text(_ text: String, status: HTTPStatus = .ok, headers: HTTPHeaders = [:]) -> LoopbackResponse {
        .data(Data(text.utf8), contentType: "text/plain; charset=utf-8", status: status, headers: headers)
    }

    /// Sends bytes with a `Content-Length`.
    ///
    /// - Parameters:
    ///   - data: The body.
    ///   - contentType: The `Content-Type`, unless `headers` contains one.
    ///   - status: The status.
    ///   - headers: Additional header fields. A `Content-Length` among them is sent unchanged, even if it is wrong.
    /// - Returns: A response.
    public static func data(
        _ data: Data,
        contentType: String = "application/octet-stream",
        status: HTTPStatus = .ok,
        headers: HTTPHeaders = [:]
    ) -> LoopbackResponse {
        let head = ResponseHead(status, headers, contentType: contentType, framing: .length(data.count))
        return LoopbackResponse(.head(head), .body(data))
    }

    /// Sends a status without a body.
    public static func status(_ status: HTTPStatus, headers: HTTPHeaders = [:]) -> LoopbackResponse {
        let hasNoLength = status.class == .informational || status == .noContent || status == .notModified
        return LoopbackResponse(.head(ResponseHead(status, headers, framing: hasNoLength ? .none : .length(0))))
    }

    /// Sends the request back as JSON: see ``LoopbackEcho``.
    public static var echo: LoopbackResponse {
        LoopbackResponse(.answer { .json(encoding: LoopbackEcho($0)) })
    }

    /// Sends a redirect.
    ///
    /// - Parameters:
    ///   - location: The value of the `Location` field, absolute or relative.
    ///   - status: The status. 302 by default.
    /// - Returns: A response without a body.
    public static func redirect(to location: String, status: HTTPStatus = .found) -> LoopbackResponse {
        .status(status, headers: [.location: location])
    }

    /// Sends a chunked body (RFC 9112 §7.1), each piece at once. Empty pieces are skipped, because they would end the body.
    ///
    /// - Parameters:
    ///   - chunks: The pieces.
    ///   - headers: Additional header fields.
    ///   - trailers: The trailer section (RFC 9112 §7.1.2).
    /// - Returns: A response.
    public static func chunked(
        _ chunks: [Data],
        headers: HTTPHeaders = [:],
        trailers: HTTPHeaders = [:]
    ) -> LoopbackResponse {
        let head = ResponseHead(.ok, headers, framing: .chunked)
        let pieces = chunks.filter { !$0.isEmpty }.flatMap { [Action.body($0.framedAsChunk), .pause(.zero)] }
        var end = Data("0\r\n".utf8)
        for index in trailers.indices { end.append(trailers.lineBytes(at: index)) }
        end.append(contentsOf: [13, 10])
        return LoopbackResponse(actions: [.head(head)] + pieces + [.body(end)])
    }

    /// Sends a body without a length, which ends when the connection closes (RFC 9112 §6.3).
    public static func untilClose(_ data: Data, headers: HTTPHeaders = [:]) -> LoopbackResponse {
        LoopbackResponse(.head(ResponseHead(.ok, headers, framing: .none)), .body(data)).closingConnection()
    }

    /// Sends an informational response, for example 103 (RFC 8297), before another response.
    public static func informational(
        _ status: HTTPStatus,
        headers: HTTPHeaders = [:],
        then response: LoopbackResponse
    ) -> LoopbackResponse {
        LoopbackResponse(actions: LoopbackResponse.status(status, headers: headers).actions + response.actions)
    }

    /// Returns the response with `Connection: close`. The connection closes after it.
    public func closingConnection() -> LoopbackResponse {
        let closing = actions.map { action -> Action in
            switch action {
            case .head(let head) where head.status.class != .informational:
                .head(head.adding(.connection, "close"))
            case .answer(let respond): .answer { respond($0).closingConnection() }
            default: action
            }
        }
        return LoopbackResponse(actions: closing + [.close])
    }
}

extension Data {
    var framedAsChunk: Data {
        var framed = Data(String(count, radix: 16).utf8)
        framed.append(contentsOf: [13, 10])
        framed.append(self)
        framed.append(contentsOf: [13, 10])
        return framed
    }
}
