import SluiceHTTP

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension LoopbackResponse {
    /// Begins the response after a signal fires. The connection closes if the client disconnects first.
    public static func after(_ signal: LoopbackSignal, _ response: LoopbackResponse) -> LoopbackResponse {
        LoopbackResponse(actions: [.wait(signal)] + response.actions)
    }

    /// Begins the response after a delay.
    public static func delayed(by duration: Duration, _ response: LoopbackResponse) -> LoopbackResponse {
        LoopbackResponse(actions: [.pause(duration)] + response.actions)
    }

    /// Sends a body with a `Content-Length` in pieces of about equal size, with a pause between two pieces.
    ///
    /// - Parameters:
    ///   - data: The body.
    ///   - pieces: The number of pieces. At least 1 and at most the number of bytes.
    ///   - interval: The duration of each pause.
    /// - Returns: A response of type `application/octet-stream`.
    public static func drip(_ data: Data, pieces: Int, every interval: Duration) -> LoopbackResponse {
        let head = ResponseHead(.ok, contentType: "application/octet-stream", framing: .length(data.count))
        let count = max(1, min(pieces, data.count))
        var actions: [Action] = [.head(head)]
        for piece in 0..<count {
            let start = data.startIndex + data.count * piece / count
            let end = data.startIndex + data.count * (piece + 1) / count
            if piece > 0 { actions.append(.pause(interval)) }
            actions.append(.body(data[start..<end]))
        }
        return LoopbackResponse(actions: actions)
    }

    /// Sends an endless chunked body, as fast as the client reads, until the client disconnects.
    public static func endless(chunk: Data) -> LoopbackResponse {
        let head = ResponseHead(.ok, contentType: "application/octet-stream", framing: .chunked)
        return LoopbackResponse(.head(head), .endless(chunk.isEmpty ? Data([0]).framedAsChunk : chunk.framedAsChunk))
    }

    /// Sends nothing until the client disconnects or the server stops.
    public static var hang: LoopbackResponse { LoopbackResponse(.hang) }

    /// Sends the head of a chunked response, then nothing more until the client disconnects or the server stops.
    public static func headersThenHang(status: HTTPStatus = .ok, headers: HTTPHeaders = [:]) -> LoopbackResponse {
        LoopbackResponse(.head(ResponseHead(status, headers, framing: .chunked)), .hang)
    }

    /// Sends a head and the beginning of the body, then nothing more until the client disconnects or the server stops.
    public static func partial(_ data: Data, announced: Int) -> LoopbackResponse {
        LoopbackResponse(.head(ResponseHead(.ok, framing: .length(announced))), .body(data), .hang)
    }
}
