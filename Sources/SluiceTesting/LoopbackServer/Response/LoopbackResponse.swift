import SluiceHTTP

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// What a ``LoopbackServer`` answers: a script of bytes to write, pauses, and ways to break the connection.
public struct LoopbackResponse: Sendable {
    /// One thing for the connection's thread to do.
    enum Action: Sendable {
        /// Writes a head.
        case head(ResponseHead)
        /// Writes a piece of the body as it goes onto the wire; nothing in an answer to HEAD.
        case body(Data)
        /// Writes bytes whatever the request.
        case bytes(Data)
        /// Does what a closure makes of the request.
        case answer(@Sendable (LoopbackRequest) -> LoopbackResponse)
        case pause(Duration)
        case wait(LoopbackSignal)
        /// Writes the same bytes until the client leaves.
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
    /// A JSON text, not looked at.
    public static func json(_ text: String, status: HTTPStatus = .ok, headers: HTTPHeaders = [:]) -> LoopbackResponse {
        .data(Data(text.utf8), contentType: "application/json", status: status, headers: headers)
    }

    /// A value as JSON; one that cannot be encoded is answered with 500 and the reason.
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

    /// Plain text in UTF-8.
    public static func text(_ text: String, status: HTTPStatus = .ok, headers: HTTPHeaders = [:]) -> LoopbackResponse {
        .data(Data(text.utf8), contentType: "text/plain; charset=utf-8", status: status, headers: headers)
    }

    /// Bytes with their length.
    ///
    /// - Parameters:
    ///   - data: The body.
    ///   - contentType: The `Content-Type`, unless `headers` have one.
    ///   - status: The status.
    ///   - headers: Further fields; a `Content-Length` among them is taken as it is, right or wrong.
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

    /// A status without a body.
    public static func status(_ status: HTTPStatus, headers: HTTPHeaders = [:]) -> LoopbackResponse {
        let hasNoLength = status.class == .informational || status == .noContent || status == .notModified
        return LoopbackResponse(.head(ResponseHead(status, headers, framing: hasNoLength ? .none : .length(0))))
    }

    /// The request as JSON: see ``LoopbackEcho``.
    public static var echo: LoopbackResponse {
        LoopbackResponse(.answer { .json(encoding: LoopbackEcho($0)) })
    }

    /// A redirect.
    ///
    /// - Parameters:
    ///   - location: The `Location` as it is sent, absolute or relative.
    ///   - status: 302 by default.
    /// - Returns: A response without a body.
    public static func redirect(to location: String, status: HTTPStatus = .found) -> LoopbackResponse {
        .status(status, headers: [.location: location])
    }

    /// A chunked body (RFC 9112 §7.1), each piece sent at once; an empty piece is left out, as it would be the end.
    ///
    /// - Parameters:
    ///   - chunks: The pieces.
    ///   - headers: Further fields of the head.
    ///   - trailers: The trailer section behind the last piece (RFC 9112 §7.1.2).
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

    /// A body without a length, which ends where the connection does (RFC 9112 §6.3).
    public static func untilClose(_ data: Data, headers: HTTPHeaders = [:]) -> LoopbackResponse {
        LoopbackResponse(.head(ResponseHead(.ok, headers, framing: .none)), .body(data)).closingConnection()
    }

    /// A response that comes after an informational one, 103 for example (RFC 8297).
    public static func informational(
        _ status: HTTPStatus,
        headers: HTTPHeaders = [:],
        then response: LoopbackResponse
    ) -> LoopbackResponse {
        LoopbackResponse(actions: LoopbackResponse.status(status, headers: headers).actions + response.actions)
    }

    /// The same response, with `Connection: close` and the connection closed behind it.
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
