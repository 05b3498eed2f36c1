import Foundation

/// A response as it stands on the wire.
struct WireResponse: Sendable, Equatable {
    var status: Int
    /// Each as `name: value`.
    var fields: [String]
    var body: Data
    /// What the body is encoded with; the bytes are those that travelled.
    var isGzip = false
}

/// Reads what a server sent as RFC 9112 says, all at once and without regard to speed: what the client's reading is held against.
struct WireReader {
    /// Why there is no response in the bytes.
    struct Nothing: Error {
        let reason: String
    }

    private let bytes: [UInt8]
    private var position = 0
    /// Whether the connection has been closed behind the bytes.
    private let isEnded: Bool

    /// The first final response.
    static func read(_ bytes: Data, isEnded: Bool, isHead: Bool) -> Result<WireResponse, Nothing> {
        var reader = WireReader(bytes: Array(bytes), isEnded: isEnded)
        return Result { () throws(Nothing) in try reader.response(isHead: isHead) }
    }

    private init(bytes: [UInt8], isEnded: Bool) {
        self.bytes = bytes
        self.isEnded = isEnded
    }

    private mutating func response(isHead: Bool) throws(Nothing) -> WireResponse {
        while true {
            var response = WireResponse(status: try status(of: line()), fields: [], body: Data())
            var fields: [(name: String, value: String)] = []
            while case let line = try line(), !line.isEmpty { try add(line, to: &fields) }
            if (100..<200).contains(response.status), response.status != 101 { continue }
            response.fields = fields.map { "\($0.name): \($0.value)" }
            let values = { (name: String) in fields.filter { $0.name.lowercased() == name }.map(\.value) }
            let length = try length(of: values("content-length"))
            if isHead || response.status == 204 || response.status == 304 { return response }
            response.body = try body(codings: values("transfer-encoding"), length: length)
            switch values("content-encoding").map({ $0.lowercased() }) {
            case [], ["identity"]: break
            case ["gzip"], ["x-gzip"]: response.isGzip = true
            default: throw Nothing(reason: "an unknown content coding")
            }
            return response
        }
    }

    private func status(of line: ArraySlice<UInt8>) throws(Nothing) -> Int {
        let words = line.split(separator: 32, maxSplits: 2)
        guard line.first != 32, words.count >= 2,
            ["HTTP/1.0", "HTTP/1.1"].contains(String(decoding: words[0], as: UTF8.self)),
            words[1].count == 3, words[1].allSatisfy(isDigit), let status = number(words[1], radix: 10), status >= 100
        else { throw Nothing(reason: "no status line") }
        return status
    }

    private func add(_ line: ArraySlice<UInt8>, to fields: inout [(name: String, value: String)]) throws(Nothing) {
        if line.first == 32 || line.first == 9 {
            guard let last = fields.popLast() else { return }
            let parts = [last.value, trimmed(line)].filter { !$0.isEmpty }
            return fields.append((last.name, parts.joined(separator: " ")))
        }
        guard let colon = line.firstIndex(of: UInt8(ascii: ":")) else { throw Nothing(reason: "no colon") }
        let name = String(decoding: line[..<colon], as: UTF8.self)
        let marks = "!#$%&'*+-.^_`|~"
        guard !name.isEmpty, name.utf8.allSatisfy({ isDigit($0) || isLetter($0) || marks.utf8.contains($0) }) else {
            throw Nothing(reason: "a name that is no token")
        }
        fields.append((name, trimmed(line[(colon + 1)...])))
    }

    private func length(of values: [String]) throws(Nothing) -> Int? {
        if values.isEmpty { return nil }
        let all = Set(values.joined(separator: ",").split(separator: ",", omittingEmptySubsequences: false))
        guard all.count == 1, let text = all.first, !text.isEmpty, text.utf8.allSatisfy(isDigit),
            let length = number(Array(text.utf8)[...], radix: 10)
        else { throw Nothing(reason: "a length that is none") }
        return length
    }

    private mutating func body(codings: [String], length: Int?) throws(Nothing) -> Data {
        if !codings.isEmpty {
            guard codings.map({ $0.lowercased() }) == ["chunked"] else { throw Nothing(reason: "an unknown coding") }
            return try chunks()
        }
        if let length { return Data(try take(length)) }
        guard isEnded else { throw Nothing(reason: "the body has not ended") }
        return Data(bytes[position...])
    }

    private mutating func chunks() throws(Nothing) -> Data {
        var body = Data()
        while true {
            let digits = try line(isFree: true).prefix { isDigit($0) || (65...70).contains($0 & 0xDF) }
            // What stands behind the size is an extension.
            guard !digits.isEmpty, let size = number(digits, radix: 16) else { throw Nothing(reason: "no size") }
            guard size > 0 else { break }
            body.append(contentsOf: try take(size))
            // As libcurl reads it: a line feed ends the chunk too, alone or behind many carriage returns.
            guard try line(isFree: true).allSatisfy({ $0 == 13 }) else {
                throw Nothing(reason: "a chunk without an end")
            }
        }
        while case let line = try line(isFree: true), !line.isEmpty {
            guard line.contains(UInt8(ascii: ":")) else { throw Nothing(reason: "no colon") }
        }
        return body
    }

    /// Up to the next line feed; one carriage return before it belongs to the line break.
    private mutating func line(isFree: Bool = false) throws(Nothing) -> ArraySlice<UInt8> {
        guard let end = bytes[position...].firstIndex(of: 10) else { throw Nothing(reason: "an unfinished line") }
        var line = bytes[position..<end]
        if line.last == 13 { line.removeLast() }
        guard isFree || !line.contains(13) && !line.contains(0) else { throw Nothing(reason: "a control character") }
        position = end + 1
        return line
    }

    private mutating func take(_ count: Int) throws(Nothing) -> ArraySlice<UInt8> {
        guard count <= bytes.count - position else { throw Nothing(reason: "the end in the middle of the body") }
        defer { position += count }
        return bytes[position..<position + count]
    }

    private func trimmed(_ value: ArraySlice<UInt8>) -> String {
        let isBlank = { (byte: UInt8) in byte == 32 || byte == 9 }
        let end = value.lastIndex { !isBlank($0) }.map { $0 + 1 } ?? value.startIndex
        return String(decoding: value[..<end].drop(while: isBlank), as: UTF8.self)
    }

    private func number(_ digits: ArraySlice<UInt8>, radix: Int) -> Int? {
        Int(String(decoding: digits, as: UTF8.self), radix: radix)
    }

    private func isDigit(_ byte: UInt8) -> Bool { (48...57).contains(byte) }
    private func isLetter(_ byte: UInt8) -> Bool { (65...90).contains(byte & 0xDF) }
}
