import SluiceHTTP

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension LoopbackResponse {
    /// How a connection ends in the middle of a body.
    public enum Cut: Sendable {
        /// It is closed.
        case close
        /// It is reset (RST), which may take along bytes that the client has not got yet.
        case reset
        /// Nothing comes any more, until the client leaves or the server stops.
        case hang

        var action: Action {
            switch self {
            case .close: .close
            case .reset: .reset
            case .hang: .hang
            }
        }
    }

    /// The same response, ended by force once so many bytes of its body have been sent and more were to come.
    ///
    /// - Parameters:
    ///   - count: The bytes of the body as it goes onto the wire, the framing of chunks included.
    ///   - cut: What happens to the connection; closed by default.
    /// - Returns: A response whose head promises more than comes. One with a body no longer than `count` is unchanged.
    public func cutOff(after count: Int, by cut: Cut = .close) -> LoopbackResponse {
        interrupted(after: count, by: [cut.action])
    }

    /// The same response, ended by force once so many bytes of it have been sent, head included, and more were to come.
    ///
    /// ```swift
    /// server.on("/", .text("hello").cutOff(afterBytesOnWire: 9, by: .reset))       // HTTP/1.1 and nothing more
    /// ```
    ///
    /// - Parameters:
    ///   - count: The bytes as they go onto the wire: informational heads before it, its own head, and the body with the framing of chunks.
    ///   - cut: What happens to the connection; closed by default.
    /// - Returns: A response that breaks off. One that is no longer than `count` is unchanged.
    public func cutOff(afterBytesOnWire count: Int, by cut: Cut = .close) -> LoopbackResponse {
        interrupted(after: count, countingHeads: true, by: [cut.action])
    }

    /// The same response, held back once so many bytes of its body have been sent, until a signal fires.
    ///
    /// - Parameters:
    ///   - count: The bytes of the body as it goes onto the wire, the framing of chunks included.
    ///   - signal: What lets the rest go.
    /// - Returns: A response; one with a body no longer than `count` is unchanged.
    public func held(after count: Int, until signal: LoopbackSignal) -> LoopbackResponse {
        interrupted(after: count, by: [.wait(signal)])
    }

    /// The same response with its body in pieces, and a pause before each but the first.
    ///
    /// - Parameters:
    ///   - pieceSize: How many bytes go at once, at least 1.
    ///   - interval: How long each pause is.
    /// - Returns: A response whose body is the same.
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

    /// The actions with others put in where the body, or head and body, have come so far and go on.
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
    /// How many bytes it writes of those that count.
    fileprivate func length(countingHeads: Bool) -> Int {
        switch self {
        case .body(let data): data.count
        case .bytes(let data) where countingHeads: data.count
        case .head(let head) where countingHeads: head.bytes.count
        default: 0
        }
    }

    /// Two in its place, where it writes more than so many bytes.
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
