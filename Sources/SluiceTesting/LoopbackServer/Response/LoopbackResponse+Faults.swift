import SluiceHTTP

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension LoopbackResponse {
    /// Closes the connection without a response.
    public static var drop: LoopbackResponse { LoopbackResponse(.close) }

    /// Resets the connection (RST) without a response.
    public static var reset: LoopbackResponse { LoopbackResponse(.reset) }

    /// Sends a body that is shorter than its `Content-Length`, then closes the connection.
    public static func truncated(_ data: Data, announced: Int) -> LoopbackResponse {
        LoopbackResponse(.head(ResponseHead(.ok, framing: .length(announced))), .body(data), .close)
    }

    /// Sends a body that is longer than its `Content-Length`.
    ///
    /// The connection stays open, so a client that reuses it reads the excess bytes as the next response.
    public static func overlong(_ data: Data, announced: Int) -> LoopbackResponse {
        LoopbackResponse(.head(ResponseHead(.ok, framing: .length(announced))), .body(data))
    }

    /// Sends arbitrary bytes instead of a response, such as an invalid status line, invalid chunks or several responses.
    public static func raw(_ data: Data, thenClose: Bool) -> LoopbackResponse {
        thenClose ? LoopbackResponse(.bytes(data), .close) : LoopbackResponse(.bytes(data))
    }

    /// Sends arbitrary text instead of a response.
    public static func raw(_ text: String, thenClose: Bool) -> LoopbackResponse {
        .raw(Data(text.utf8), thenClose: thenClose)
    }

    /// Performs the steps of a response one by one.
    public static func script(_ steps: Step...) -> LoopbackResponse {
        .script(steps)
    }

    /// Performs the steps of a response one by one.
    public static func script(_ steps: [Step]) -> LoopbackResponse {
        LoopbackResponse(actions: steps.map(\.action))
    }

    /// A step of a ``script(_:)`` response.
    public struct Step: Sendable {
        let action: Action

        /// Writes bytes unchanged.
        public static func write(_ data: Data) -> Step { Step(action: .bytes(data)) }
        /// Writes text unchanged. Lines of a head must end in `\r\n`.
        public static func write(_ text: String) -> Step { .write(Data(text.utf8)) }
        /// Sends the written bytes and waits for a duration.
        public static func pause(_ duration: Duration) -> Step { Step(action: .pause(duration)) }
        /// Sends the written bytes and waits for a signal.
        public static func wait(for signal: LoopbackSignal) -> Step { Step(action: .wait(signal)) }
        /// Sends the written bytes, then nothing more until the client disconnects or the server stops.
        public static var hang: Step { Step(action: .hang) }
        /// Sends the written bytes and closes the connection.
        public static var close: Step { Step(action: .close) }
        /// Sends the written bytes and resets the connection (RST).
        public static var reset: Step { Step(action: .reset) }
    }
}
