import SluiceHTTP

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension LoopbackResponse {
    /// Closes the connection without an answer.
    public static var drop: LoopbackResponse { LoopbackResponse(.close) }

    /// Resets the connection without an answer (RST).
    public static var reset: LoopbackResponse { LoopbackResponse(.reset) }

    /// A body shorter than its head announces, and the connection closed behind it.
    public static func truncated(_ data: Data, announced: Int) -> LoopbackResponse {
        LoopbackResponse(.head(ResponseHead(.ok, framing: .length(announced))), .body(data), .close)
    }

    /// A body longer than its head announces; the connection stays open, so that a client which uses it again reads
    /// the rest as its next response.
    public static func overlong(_ data: Data, announced: Int) -> LoopbackResponse {
        LoopbackResponse(.head(ResponseHead(.ok, framing: .length(announced))), .body(data))
    }

    /// Any bytes in the place of a response: bad status lines, bad chunks, several responses.
    public static func raw(_ data: Data, thenClose: Bool) -> LoopbackResponse {
        thenClose ? LoopbackResponse(.bytes(data), .close) : LoopbackResponse(.bytes(data))
    }

    /// Any bytes in the place of a response, given as text.
    public static func raw(_ text: String, thenClose: Bool) -> LoopbackResponse {
        .raw(Data(text.utf8), thenClose: thenClose)
    }

    /// A response written step by step.
    public static func script(_ steps: Step...) -> LoopbackResponse {
        .script(steps)
    }

    /// A response written step by step.
    public static func script(_ steps: [Step]) -> LoopbackResponse {
        LoopbackResponse(actions: steps.map(\.action))
    }

    /// A step of ``script(_:)``.
    public struct Step: Sendable {
        let action: Action

        /// Writes bytes as they are.
        public static func write(_ data: Data) -> Step { Step(action: .bytes(data)) }
        /// Writes text as it is; lines of a head end in `\r\n`.
        public static func write(_ text: String) -> Step { .write(Data(text.utf8)) }
        /// Sends what has been written and waits a while.
        public static func pause(_ duration: Duration) -> Step { Step(action: .pause(duration)) }
        /// Sends what has been written and waits for a signal.
        public static func wait(for signal: LoopbackSignal) -> Step { Step(action: .wait(signal)) }
        /// Sends what has been written and then nothing, until the client leaves or the server stops.
        public static var hang: Step { Step(action: .hang) }
        /// Sends what has been written and closes the connection.
        public static var close: Step { Step(action: .close) }
        /// Resets the connection (RST).
        public static var reset: Step { Step(action: .reset) }
    }
}
