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

    /// The actions with others put in where the body has come so far and goes on.
    private func interrupted(after count: Int, by interruption: [Action]) -> LoopbackResponse {
        var left = max(0, count)
        var result: [Action] = []
        for (index, action) in actions.enumerated() {
            switch action {
            case .body(let data) where data.count > left:
                result += [.body(data.prefix(left))] + interruption + [.body(data.dropFirst(left))]
                return LoopbackResponse(actions: result + actions.dropFirst(index + 1))
            case .body(let data):
                left -= data.count
                result.append(action)
            case .endless(let chunk):
                let beginning = Array(repeating: Action.body(chunk), count: left / chunk.count)
                result += beginning + [.body(chunk.prefix(left % chunk.count))] + interruption
                result.append(.body(chunk.dropFirst(left % chunk.count)))
                return LoopbackResponse(actions: result + actions.dropFirst(index))
            case .answer(let respond):
                result.append(.answer { [left] in respond($0).interrupted(after: left, by: interruption) })
            default:
                result.append(action)
            }
        }
        return LoopbackResponse(actions: result)
    }
}
