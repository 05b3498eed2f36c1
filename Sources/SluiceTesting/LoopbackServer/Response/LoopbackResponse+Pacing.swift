import SluiceHTTP

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension LoopbackResponse {
    /// A response that begins once a signal has fired; the connection closes when the client leaves before.
    public static func after(_ signal: LoopbackSignal, _ response: LoopbackResponse) -> LoopbackResponse {
        LoopbackResponse(actions: [.wait(signal)] + response.actions)
    }

    /// A response that begins after a while.
    public static func delayed(by duration: Duration, _ response: LoopbackResponse) -> LoopbackResponse {
        LoopbackResponse(actions: [.pause(duration)] + response.actions)
    }

    /// A body with its length in about equal pieces, with a pause between each two.
    ///
    /// - Parameters:
    ///   - data: The body.
    ///   - pieces: How many pieces, at least 1 and no more than there are bytes.
    ///   - interval: How long each pause is.
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

    /// A chunked body that never ends, sent as fast as the client takes it, until the client leaves.
    public static func endless(chunk: Data) -> LoopbackResponse {
        let head = ResponseHead(.ok, contentType: "application/octet-stream", framing: .chunked)
        return LoopbackResponse(.head(head), .endless(chunk.isEmpty ? Data([0]).framedAsChunk : chunk.framedAsChunk))
    }

    /// No answer at all, until the client leaves or the server stops.
    public static var hang: LoopbackResponse { LoopbackResponse(.hang) }

    /// A head that announces a chunked body of which nothing comes, until the client leaves or the server stops.
    public static func headersThenHang(status: HTTPStatus = .ok, headers: HTTPHeaders = [:]) -> LoopbackResponse {
        LoopbackResponse(.head(ResponseHead(status, headers, framing: .chunked)), .hang)
    }

    /// A head and the beginning of the body, and then nothing, until the client leaves or the server stops.
    public static func partial(_ data: Data, announced: Int) -> LoopbackResponse {
        LoopbackResponse(.head(ResponseHead(.ok, framing: .length(announced))), .body(data), .hang)
    }
}
