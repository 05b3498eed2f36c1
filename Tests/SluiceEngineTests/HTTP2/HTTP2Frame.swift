#if os(Linux)
import CNghttp2

/// A frame as it is on the wire (RFC 9113 §4.1).
struct HTTP2Frame: Sendable {
    enum Kind: UInt8 {
        case data, headers, priority, reset, settings, push, ping, goAway, windowUpdate, continuation
    }

    /// The bits of the flags field.
    enum Flag {
        static let endStream: UInt8 = 1
        static let ack: UInt8 = 1
        static let endHeaders: UInt8 = 4
        static let padded: UInt8 = 8
    }

    /// The error codes that tests use (RFC 9113 §7).
    enum Code {
        static let noError: UInt32 = 0
        static let protocolError: UInt32 = 1
        static let internalError: UInt32 = 2
        static let refusedStream: UInt32 = 7
        static let cancel: UInt32 = 8
        static let enhanceYourCalm: UInt32 = 11
        static let http1Required: UInt32 = 13
    }

    /// The identifiers of the settings that tests use (RFC 9113 §6.5.2).
    enum Setting {
        static let tableSize: UInt16 = 1
        static let enablePush: UInt16 = 2
        static let maximumStreams: UInt16 = 3
        static let initialWindow: UInt16 = 4
    }

    let type: UInt8
    var flags: UInt8 = 0
    var stream: Int32 = 0
    var payload: [UInt8] = []
    /// The decoded fields of a header block.
    var fields: [HTTP2Field] = []

    var kind: Kind? { Kind(rawValue: type) }
    var isAck: Bool { flags & Flag.ack != 0 }
    var endsStream: Bool { flags & Flag.endStream != 0 && (kind == .data || kind == .headers) }

    /// The 32-bit number in the frame: the code of a reset, or the increment of a window update.
    var number: UInt32 { HTTP2Frame.number(payload, at: 0) }
    /// The error code of a GOAWAY frame.
    var goAwayCode: UInt32 { HTTP2Frame.number(payload, at: 4) }
    /// The settings in the frame.
    var settings: [UInt16: UInt32] {
        var settings: [UInt16: UInt32] = [:]
        for start in stride(from: 0, to: payload.count - 5, by: 6) {
            let name = UInt16(payload[start]) << 8 | UInt16(payload[start + 1])
            settings[name] = HTTP2Frame.number(payload, at: start + 2)
        }
        return settings
    }

    init(_ kind: Kind, flags: UInt8 = 0, stream: Int32 = 0, _ payload: [UInt8] = []) {
        self.init(type: kind.rawValue, flags: flags, stream: stream, payload: payload)
    }

    init(type: UInt8, flags: UInt8, stream: Int32, payload: [UInt8]) {
        self.type = type
        self.flags = flags
        self.stream = stream
        self.payload = payload
    }

    /// The value of a field; nil if it is missing.
    subscript(_ name: String) -> String? { fields.first { $0.name == name }?.value }

    /// The bytes on the wire.
    var bytes: [UInt8] {
        var bytes: [UInt8] = [
            UInt8(payload.count >> 16 & 255), UInt8(payload.count >> 8 & 255), UInt8(payload.count & 255),
        ]
        bytes += [type, flags] + HTTP2Frame.bytes(of: UInt32(bitPattern: stream))
        return bytes + payload
    }

    static func number(_ bytes: [UInt8], at start: Int) -> UInt32 {
        guard bytes.count >= start + 4 else { return .max }
        return bytes[start..<start + 4].reduce(0) { $0 << 8 | UInt32($1) }
    }

    static func bytes(of number: UInt32) -> [UInt8] {
        [UInt8(number >> 24), UInt8(number >> 16 & 255), UInt8(number >> 8 & 255), UInt8(number & 255)]
    }

    // MARK: Header blocks

    /// Encodes a header block whose fields are all literals without indexing (RFC 7541 §6.2.2).
    static func block(_ fields: [HTTP2Field]) -> [UInt8] {
        fields.flatMap { [0] + text($0.name) + text($0.value) }
    }

    private static func text(_ text: String) -> [UInt8] { integer(text.utf8.count, prefix: 7) + text.utf8 }

    /// Encodes an integer after the bits that precede its prefix in the first byte (RFC 7541 §5.1).
    static func integer(_ number: Int, prefix: Int, after bits: UInt8 = 0) -> [UInt8] {
        let limit = 1 << prefix - 1
        if number < limit { return [bits | UInt8(number)] }
        var bytes = [bits | UInt8(limit)]
        var rest = number - limit
        while rest >= 128 {
            bytes.append(UInt8(rest & 127) | 128)
            rest >>= 7
        }
        return bytes + [UInt8(rest)]
    }
}

/// A name and a value.
struct HTTP2Field: Sendable, Equatable, ExpressibleByStringLiteral, CustomStringConvertible {
    let name: String
    let value: String

    init(_ name: String, _ value: String) {
        self.name = name
        self.value = value
    }

    /// Parses a field written as name, colon, space, value.
    init(stringLiteral line: String) {
        // A pseudo-header field begins with a colon.
        let colon = line.dropFirst().firstIndex(of: ":") ?? line.endIndex
        name = String(line[..<colon])
        value = String(line[colon...].dropFirst(2))
    }

    var description: String { "\(name): \(value)" }
}

/// A decoder for a client's header blocks.
final class HTTP2FieldReader {
    private let raw: OpaquePointer

    init?() {
        var raw: OpaquePointer?
        guard nghttp2_hd_inflate_new(&raw) == 0, let raw else { return nil }
        self.raw = raw
    }

    deinit { nghttp2_hd_inflate_del(raw) }

    /// Decodes a whole block; nil for a damaged one.
    func read(_ block: [UInt8]) -> [HTTP2Field]? {
        var fields: [HTTP2Field] = []
        var block = block
        return block.withUnsafeMutableBufferPointer { bytes -> [HTTP2Field]? in
            var position = 0
            while true {
                var pair = nghttp2_nv()
                var flags: Int32 = 0
                let rest = bytes.count - position
                let used = nghttp2_hd_inflate_hd2(raw, &pair, &flags, bytes.baseAddress.map { $0 + position }, rest, 1)
                guard used >= 0 else { return nil }
                position += used
                if flags & Int32(NGHTTP2_HD_INFLATE_EMIT.rawValue) != 0 {
                    let name = UnsafeBufferPointer(start: pair.name, count: pair.namelen)
                    let value = UnsafeBufferPointer(start: pair.value, count: pair.valuelen)
                    fields.append(
                        HTTP2Field(String(decoding: name, as: UTF8.self), String(decoding: value, as: UTF8.self))
                    )
                }
                if flags & Int32(NGHTTP2_HD_INFLATE_FINAL.rawValue) != 0 {
                    nghttp2_hd_inflate_end_headers(raw)
                    return fields
                }
                if flags & Int32(NGHTTP2_HD_INFLATE_EMIT.rawValue) == 0, position >= bytes.count { return fields }
            }
        }
    }
}
#endif
