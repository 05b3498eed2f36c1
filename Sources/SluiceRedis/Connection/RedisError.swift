import SluiceFoundation
import SluiceHTTP

/// A command that has no reply, or whose reply is an error.
public struct RedisError: LocalizedError, Sendable, CustomStringConvertible, DescribedError {
    /// The kinds of failure.
    public struct Code: Sendable, Hashable, CustomStringConvertible {
        /// The name of the code, such as `timedOut`.
        public let description: String

        private init(_ name: String) {
            description = name
        }

        /// The server cannot be reached or does not accept the credentials, or it could not be reached a short time ago.
        public static let unavailable = Code("unavailable")
        /// No reply arrived in time. The server may have executed the command.
        public static let timedOut = Code("timedOut")
        /// The caller was cancelled. The server may have executed the command.
        public static let cancelled = Code("cancelled")
        /// Too many commands wait for a reply. The command was not sent.
        public static let queueFull = Code("queueFull")
        /// The connection was lost before the reply arrived. The server may have executed the command.
        public static let connectionLost = Code("connectionLost")
        /// The server sent something other than RESP, or a reply of another kind than the command has.
        public static let invalidReply = Code("invalidReply")
        /// The server is a replica, for example after a failover (`READONLY`).
        public static let readOnly = Code("readOnly")
        /// The server is loading its data, or a replica has no connection to its primary (`LOADING`, `MASTERDOWN`).
        public static let loading = Code("loading")
        /// The key belongs to another node of a cluster (`MOVED`, `ASK`), also after five redirections.
        public static let moved = Code("moved")
        /// The keys of the command belong to different slots of a cluster (`CROSSSLOT`). The command was not executed.
        public static let crossSlot = Code("crossSlot")
        /// The keys of the command are on two nodes of a cluster while their slot moves (`TRYAGAIN`). The command was not executed.
        public static let tryAgain = Code("tryAgain")
        /// The cluster does not serve the slot, for example during a failover (`CLUSTERDOWN`). The command was not executed.
        public static let clusterDown = Code("clusterDown")
        /// The server's memory is full (`OOM`).
        public static let outOfMemory = Code("outOfMemory")
        /// The server does not have the script (`NOSCRIPT`).
        public static let noScript = Code("noScript")
        /// The credentials are missing or wrong, or do not permit the command (`NOAUTH`, `WRONGPASS`, `NOPERM`).
        public static let unauthorized = Code("unauthorized")
        /// The server answered with another error, or the command changes the connection and was not sent.
        public static let refused = Code("refused")
    }

    /// The kind of failure.
    public let code: Code
    /// A sentence for logs, without arguments of the command.
    public let description: String
    /// The error of the server, if it sent one.
    public let reply: RedisReplyError?
    /// The error that caused this one.
    public let underlyingError: (any Error)?

    package init(_ code: Code, _ description: String, underlyingError: (any Error)? = nil) {
        self.code = code
        self.description = description
        self.underlyingError = underlyingError
        reply = nil
    }

    /// Creates the error for an error of the server.
    package init(_ reply: RedisReplyError) {
        code =
            switch reply.innerPrefix {
            case "READONLY": .readOnly
            case "LOADING", "MASTERDOWN": .loading
            case "MOVED", "ASK": .moved
            case "CROSSSLOT": .crossSlot
            case "TRYAGAIN": .tryAgain
            case "CLUSTERDOWN": .clusterDown
            case "OOM": .outOfMemory
            case "NOSCRIPT": .noScript
            case "NOAUTH", "WRONGPASS", "NOPERM": .unauthorized
            default: .refused
            }
        description = "The Redis server answered: \(reply)."
        self.reply = reply
        underlyingError = nil
    }

    /// True if the command was never sent, so that the server has not executed it.
    package var isUnsent: Bool { code == .unavailable || code == .queueFull }

    package static let cancelled = RedisError(.cancelled, "The command was cancelled.")

    package static func unavailable(_ server: RedisServer, _ cause: (any Error)? = nil) -> RedisError {
        let detail = cause.map { ": \($0)" } ?? "; the next attempt follows after a pause."
        let text = "The Redis server at \(server) is not available\(detail)"
        return RedisError(.unavailable, text, underlyingError: cause)
    }
}
