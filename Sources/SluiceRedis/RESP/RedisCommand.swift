import SluiceFoundation
import SluiceHTTP

/// A command with its arguments.
///
/// ```swift
/// let command = RedisCommand("SET", "visits", 1, "EX", 60)
/// ```
///
/// Descriptions show the name of the command and no arguments, which may be secret.
public struct RedisCommand: Sendable {
    /// The name in upper case and the arguments.
    package private(set) var words: [Data]
    /// True if the command may be sent again after its connection was lost, although the server may have executed it.
    ///
    /// Reading commands and those that set a value are idempotent. `INCR`, `LPUSH` and most scripts are not.
    public var isIdempotent: Bool
    /// True if the reply may have more than 64 KiB. False by default.
    ///
    /// Such commands, and those that have themselves more than 64 KiB, share a connection of their own and do not hold up others.
    public var hasLargeReply = false

    /// Creates a command.
    ///
    /// - Parameters:
    ///   - name: The name of the command.
    ///   - arguments: Its arguments.
    ///   - isIdempotent: True if the command may be sent again after its connection was lost. False by default.
    public init(_ name: String, _ arguments: any RedisArgument..., isIdempotent: Bool = false) {
        self.init(name, arguments: arguments, isIdempotent: isIdempotent)
    }

    /// Creates a command from an array of arguments.
    ///
    /// - Parameters:
    ///   - name: The name of the command.
    ///   - arguments: Its arguments.
    ///   - isIdempotent: True if the command may be sent again after its connection was lost. False by default.
    public init(_ name: String, arguments: [any RedisArgument], isIdempotent: Bool = false) {
        let isUppercase = !name.utf8.contains { UInt8(ascii: "a")...UInt8(ascii: "z") ~= $0 }
        words = []
        words.reserveCapacity(1 + arguments.count)
        words.append(Data((isUppercase ? name : name.uppercased()).utf8))
        for argument in arguments { words.append(argument.redisBytes) }
        self.isIdempotent = isIdempotent
    }

    /// The name of the command.
    public var name: String { words.first.map { String(decoding: $0, as: UTF8.self) } ?? "" }

    /// True for a command that changes the connection for all that use it, or makes the server send other things than one reply.
    package var changesConnection: Bool {
        if name == "CLIENT", words.count > 1 {
            return String(decoding: words[1], as: UTF8.self).uppercased() == "REPLY"
        }
        return Self.connectionCommands.contains(name)
    }

    private static let connectionCommands: Set = [
        "ASKING", "AUTH", "DISCARD", "EXEC", "HELLO", "MONITOR", "MULTI", "PSUBSCRIBE", "PSYNC", "PUNSUBSCRIBE", "QUIT",
        "READONLY", "READWRITE", "RESET", "SELECT", "SSUBSCRIBE", "SUBSCRIBE", "SUNSUBSCRIBE", "SYNC", "UNSUBSCRIBE",
        "UNWATCH", "WATCH",
    ]

    /// The number of bytes that ``write(to:)`` appends at most.
    package var size: Int { words.reduce(32) { $0 + $1.count + 32 } }

    /// Appends the command as an array of bulk strings, the only form that servers take.
    package func write(to output: inout [UInt8]) {
        RedisCommand.writeLength("*", words.count, to: &output)
        for word in words {
            RedisCommand.writeLength("$", word.count, to: &output)
            word.withUnsafeBytes { output.append(contentsOf: $0) }
            RedisCommand.writeLineEnd(to: &output)
        }
    }

    private static func writeLength(_ type: Unicode.Scalar, _ length: Int, to output: inout [UInt8]) {
        output.append(UInt8(ascii: type))
        output.append(contentsOf: String(length).utf8)
        writeLineEnd(to: &output)
    }

    private static func writeLineEnd(to output: inout [UInt8]) {
        output.append(13)
        output.append(10)
    }
}

extension RedisCommand: CustomStringConvertible, CustomReflectable, RedactedMirror {
    /// The name and the number of arguments.
    public var description: String { "\(name) with \(words.count - 1) arguments" }
}

/// A type that can be an argument of a command.
public protocol RedisArgument: Sendable {
    /// The bytes that are sent.
    var redisBytes: Data { get }
}

extension String: RedisArgument {
    /// The text in UTF-8.
    public var redisBytes: Data { Data(utf8) }
}

extension Data: RedisArgument {
    /// The data itself.
    public var redisBytes: Data { self }
}

extension Int: RedisArgument {
    /// The decimal digits.
    public var redisBytes: Data { Data(String(self).utf8) }
}

extension Secret: RedisArgument {
    /// The text in UTF-8.
    public var redisBytes: Data { Data(reveal().utf8) }
}
