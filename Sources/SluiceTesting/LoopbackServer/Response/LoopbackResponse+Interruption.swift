import SluiceHTTP

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension LoopbackResponse {
    /// A way to end a connection in the middle of a message.
    public enum Cut: Sendable {
        /// Closes the connection.
        case close
        /// Resets the connection (RST). The client may lose bytes that it has not read.
        case reset
        /// Sends nothing more until the client disconnects or the server stops.
        case hang

        var action: Action {
            switch self {
            case .close: .close
            case .reset: .reset
            case .hang: .hang
            }
        }
    }

    /// Returns the response, interrupted after a number of body bytes.
    ///
    /// - Parameters:
    ///   - count: The number of body bytes to send, as encoded on the wire, including chunked framing.
    ///   - cut: The way the connection ends. Closed by default.
    /// - Returns: The interrupted response. A response with a body of at most `count` bytes is unchanged.
    public func cutOff(after count: Int, by cut: Cut = .close) -> LoopbackResponse {
        interrupted(after: count, by: [cut.action])
    }

    /// Returns the response, interrupted after a number of bytes, including the head.
    ///
    /// ```swift
    /// server.on("/", .text("hello").cutOff(afterBytesOnWire: 9, by: .reset))       // HTTP/1.1 and nothing more
    /// ```
    ///
    /// - Parameters:
    ///   - count: The number of bytes to send: informational responses, the head, and the body with its chunked framing.
    ///   - cut: The way the connection ends. Closed by default.
    /// - Returns: The interrupted response. A response of at most `count` bytes is unchanged.
    public func cutOff(afterBytesOnWire count: Int, by cut: Cut = .close) -> LoopbackResponse {
        interrupted(after: count, countingHeads: true, by: [cut.action])
    }

    /// Returns the response, paused after a number of body bytes until a signal fires.
    ///
    /// - Parameters:
    ///   - count: The number of body bytes to send first, as encoded on the wire, including chunked framing.
    ///   - signal: The signal that resumes the response.
    /// - Returns: The paused response. A response with a body of at most `count` bytes is unchanged.
    public func held(after count: Int, until signal: LoopbackSignal) -> LoopbackResponse {
        interrupted(after: count, by: [.wait(signal)])
    }

    /// Returns the response with its body split into pieces, and a pause before each piece except the first.
    ///
    /// - Parameters:
    ///   - pieceSize: The number of bytes in a piece. At least 1.
    ///   - interval: The duration of each pause.
    /// - Returns: The response with the same body bytes.
    public func dripped(pieceSize: Int, every interval: Duration) -> LoopbackResponse {
        var isFirst = true
        let dripped = actions.flatMap { action -> [Action] in
            switch action {
            case .answer(let respond):
                return [.answer { respond($0).dripped(pieceSize: pieceSize, every: interval) }]
            case .body(let data):
                var pieces: [Action] = []
                var rest = data
                while !rest.isEmpty {
                    if !isFirst { pieces.append(.pause(interval)) }
                    pieces.append(.body(rest.prefix(max(1, pieceSize))))
                    rest = rest.dropFirst(max(1, pieceSize))
                    isFirst = false
                }
                return pieces
            default:
                return [action]
            }
        }
        return LoopbackResponse(actions: dripped)
    }

    /// Returns the response with other actions inserted after a number of bytes of the body, or of head and body.
    private func interrupted(
        after count: Int,
        countingHeads: Bool = false,
        by interruption: [Action]
    ) -> LoopbackResponse {
        var left = max(0, count)
        var result: [Action] = []
        for (index, action) in actions.enumerated() {
            if let (before, after) = action.split(after: left, countingHeads: countingHeads) {
                return LoopbackResponse(
                    actions: result + [before] + interruption + [after] + actions.dropFirst(index + 1)
                )
            }
            switch action {
            case .endless(let chunk):
                let beginning = Array(repeating: Action.body(chunk), count: left / chunk.count)
                result += beginning + [.body(chunk.prefix(left % chunk.count))] + interruption
                result.append(.body(chunk.dropFirst(left % chunk.count)))
                return LoopbackResponse(actions: result + actions.dropFirst(index))
            case .answer(let respond):
                result.append(
                    .answer { [left] in
                        respond($0).interrupted(after: left, countingHeads: countingHeads, by: interruption)
                    }
                )
            default:
                left -= action.length(countingHeads: countingHeads)
                result.append(action)
            }
        }
        return LoopbackResponse(actions: result)
    }
}

extension LoopbackResponse.Action {
    /// Returns the number of bytes that the action writes, with or without the bytes of heads.
    fileprivate func length(countingHeads: Bool) -> Int {
        switch self {
        case .body(let data): data.count
        case .bytes(let data) where countingHeads: data.count
        case .head(let head) where countingHeads: head.bytes.count
        default: 0
        }
    }

    /// Splits the action in two. Returns nil if it writes at most `count` bytes.
    fileprivate func split(after count: Int, countingHeads: Bool) -> (Self, Self)? {
        guard length(countingHeads: countingHeads) > count else { return nil }
        return switch self {
        case .body(let data): (.body(data.prefix(count)), .body(data.dropFirst(count)))
        case .bytes(let data): (.bytes(data.prefix(count)), .bytes(data.dropFirst(count)))
        case .head(let head): (.bytes(head.bytes.prefix(count)), .bytes(head.bytes.dropFirst(count)))
        default: nil
        }
    }
}
