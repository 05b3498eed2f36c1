import SluiceFoundation

/// A value of RESP, the protocol of Redis and Valkey, in version 2 or 3.
public enum RedisValue: Sendable, Hashable {
    /// A null of either version.
    case null
    /// A simple, bulk or verbatim string. The format of a verbatim string is dropped.
    case bytes(Data)
    /// A 64-bit integer.
    case integer(Int64)
    /// A double, which may be infinite or no number.
    case double(Double)
    /// A boolean of version 3.
    case boolean(Bool)
    /// An integer of any size, in decimal digits with an optional sign.
    case bigNumber(String)
    /// An error, simple or bulk. As an element of another value, it concerns only that element.
    case error(RedisReplyError)
    /// An array.
    case array([RedisValue])
    /// A set, in the order of the server.
    case set([RedisValue])
    /// A map, in the order of the server. Version 2 sends maps as arrays.
    case map([Entry])

    /// A key of a map with its value.
    public struct Entry: Sendable, Hashable {
        /// The key.
        public let key: RedisValue
        /// The value.
        public let value: RedisValue

        /// Creates an entry.
        public init(key: RedisValue, value: RedisValue) {
            self.key = key
            self.value = value
        }
    }

    /// The bytes of a string; nil for other values.
    public var data: Data? {
        if case .bytes(let data) = self { data } else { nil }
    }

    /// The text of a string, or nil for other values and for bytes that are not UTF-8.
    public var string: String? {
        guard case .bytes(let data) = self else { return nil }
        return data.withUnsafeBytes { String(validating: $0, as: UTF8.self) }
    }

    /// The text of a short string, such as a name; nil for other values. The comparison of a long text that is not ASCII
    /// takes long.
    package var word: String? {
        guard case .bytes(let data) = self, data.count <= 256 else { return nil }
        return string
    }

    /// The value of an integer, of a boolean, or of a string of decimal digits; nil for other values.
    public var int: Int? {
        switch self {
        case .integer(let value): Int(exactly: value)
        case .boolean(let value): value ? 1 : 0
        case .bytes: word.flatMap { Int($0) }
        default: nil
        }
    }

    /// The elements of an array or a set; nil for other values.
    public var elements: [RedisValue]? {
        switch self {
        case .array(let elements), .set(let elements): elements
        default: nil
        }
    }
}

/// An error that the server answers a command with, such as `WRONGTYPE Operation against a key…`.
public struct RedisReplyError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The first word of the error, in upper case: `ERR`, `WRONGTYPE`, `READONLY`. `ERR` for an error without such a word.
    public let prefix: String
    /// The text after the first word. It may name keys and arguments.
    public let message: String

    /// Parses the text of an error, of which up to 1,024 bytes are kept.
    package init(_ text: String) {
        let text = String(decoding: text.utf8.prefix(1024), as: UTF8.self)
        let word = text.utf8.prefix { $0 != UInt8(ascii: " ") }
        let isPrefix = word.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"): true
            default: false
            }
        }
        if isPrefix, !word.isEmpty, word.count <= 32 {
            prefix = String(text[..<word.endIndex])
            message = String(text[word.endIndex...].dropFirst())
        } else {
            prefix = "ERR"
            message = text
        }
    }

    /// The first word of the error that has ended a script, or the prefix of any other error.
    ///
    /// Before Redis 7, an error within a script comes with the place of the script:
    /// `ERR Error running script (call to f_…): @user_script:12: @user_script: 12: -READONLY You can't write…`.
    package var innerPrefix: String {
        guard prefix == "ERR", message.hasPrefix("Error running script (call to "),
            let end = message.firstRange(of: "): ")?.upperBound
        else { return prefix }
        var rest = message[end...]
        let place = "@user_script:"
        while rest.hasPrefix(place) {
            let line = rest.dropFirst(place.count).drop { $0 == " " || $0.isNumber }
            guard line.hasPrefix(": ") else { break }
            rest = line.dropFirst(2)
        }
        if rest.first == "-" { rest = rest.dropFirst() }
        return RedisReplyError(String(rest)).prefix
    }

    /// The prefix and the message without quoted arguments, of which one may be a password or a token.
    public var description: String {
        let quoted = message.firstRange(of: ", with args beginning with")?.lowerBound ?? message.endIndex
        return message.isEmpty ? prefix : "\(prefix) \(message[..<quoted])"
    }
}
