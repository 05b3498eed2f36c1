import Foundation

/// A response as it is on the wire.
struct WireResponse: Sendable, Equatable {
    var status: Int
    /// Each as `name: value`.
    var fields: [String]
    var body: Data
    /// True if the body is gzip. The body holds the encoded bytes.
    var isGzip = false
}

/// A simple reader of whole responses as in RFC 9112. The client's results are compared with it.
struct WireReader {
    /// The reason why the bytes contain no response.
    struct NoResponse: Error {
        let reason: String
    }

    private let bytes: [UInt8]
    private var position = 0
    /// True if the connection is closed after the bytes.
    private let isEnded: Bool

    /// Reads the first final response.
    static func read(_ bytes: Data, isEnded: Bool, isHead: Bool) -> Result<WireResponse, NoResponse> {
        var reader = WireReader(bytes: Array(bytes), isEnded: isEnded)
        return Result { () throws(NoResponse) in try reader.response(isHead: isHead) }
    }

    private init(bytes: [UInt8], isEnded: Bool) {
        self.bytes = bytes
        self.isEnded = isEnded
    }

    private mutating func response(isHead: Bool) throws(NoResponse) -> WireResponse {
        while true {
            let statusLine = try line()
            let isOld = statusLine.dropFirst(7).first == UInt8(ascii: "0")
            var response = WireResponse(status: try status(of: statusLine), fields: [], body: Data())
            var fields: [(name: String, value: String)] = []
            while case let line = try line(), !line.isEmpty { fields.append(try field(line)) }
            response.fields = fields.map { "\($0.name): \($0.value)" }
            let values = { (name: String) in fields.filter { $0.name.lowercased() == name }.map(\.value) }
            let length = try length(of: values("content-length"))
            if (100..<200).contains(response.status) { continue }
            if isHead || response.status == 204 || response.status == 304 { return response }
            let codings = values("transfer-encoding")
            // RFC 9112 §6.1: neither length is trustworthy.
            if !codings.isEmpty, isOld || length != nil { throw NoResponse(reason: "two lengths") }
            response.body = try body(codings: codings, length: length)
            // A body with an unknown coding is not decoded. Empty list elements are ignored (RFC 9110 §5.6.1.2).
            let encodings = values("content-encoding").joined(separator: ",").lowercased()
                .split { ", \t".contains($0) }
            response.isGzip = encodings == ["gzip"] || encodings == ["x-gzip"]
            return response
        }
    }

    /// Returns the code of `HTTP/1.x SP 3DIGIT [SP reason]`.
    private func status(of line: ArraySlice<UInt8>) throws(NoResponse) -> Int {
        let line = Array(line)
        guard line.count >= 12, line.starts(with: Array("HTTP/1.".utf8)), isDigit(line[7]), line[8] == 32,
            line[9...11].allSatisfy(isDigit), line.count == 12 || line[12] == 32,
            let status = number(line[9...11], radix: 10), status >= 100, status != 101
        else { throw NoResponse(reason: "no status line") }
        return status
    }

    private func field(_ line: ArraySlice<UInt8>) throws(NoResponse) -> (name: String, value: String) {
        guard let colon = line.firstIndex(of: UInt8(ascii: ":")) else { throw NoResponse(reason: "no colon") }
        let name = String(decoding: line[..<colon], as: UTF8.self)
        let marks = "!#$%&'*+-.^_`|~"
        guard !name.isEmpty, name.utf8.allSatisfy({ isDigit($0) || isLetter($0) || marks.utf8.contains($0) }) else {
            throw NoResponse(reason: "an invalid field name")
        }
        return (name, trimmed(line[(colon + 1)...]))
    }

    private func length(of values: [String]) throws(NoResponse) -> Int? {
        if values.isEmpty { return nil }
        let all = Set(values.joined(separator: ",").split(separator: ",", omittingEmptySubsequences: false))
        guard all.count == 1, let text = all.first, !text.isEmpty, text.utf8.allSatisfy(isDigit),
            let length = number(Array(text.utf8)[...], radix: 10)
        else { throw NoResponse(reason: "an invalid length") }
        return length
    }

    private mutating func body(codings: [String], length: Int?) throws(NoResponse) -> Data {
        if !codings.isEmpty {
            guard codings.map({ $0.lowercased() }) == ["chunked"] else { throw NoResponse(reason: "an unknown coding") }
            return try chunks()
        }
        if let length { return Data(try take(length)) }
        guard isEnded else { throw NoResponse(reason: "the body has not ended") }
        return Data(bytes[position...])
    }

    private mutating func chunks() throws(NoResponse) -> Data {
        var body = Data()
        while true {
            let line = try line()
            let digits = line.prefix { isDigit($0) || (65...70).contains($0 & 0xDF) }
            // An extension may follow the size.
            let isBare = digits.count == line.count || line[digits.endIndex] == UInt8(ascii: ";")
            guard (1...15).contains(digits.count), isBare, let size = number(digits, radix: 16) else {
                throw NoResponse(reason: "no chunk size")
            }
            guard size > 0 else { break }
            body.append(contentsOf: try take(size))
            guard try take(2).elementsEqual([13, 10]) else { throw NoResponse(reason: "a chunk without CRLF") }
        }
        while case let line = try line(), !line.isEmpty { _ = try field(line) }
        return body
    }

    /// Reads up to the next CRLF. Before it, a tab is the only control character allowed (RFC 9112 §2.2, RFC 9110 §5.5).
    private mutating func line() throws(NoResponse) -> ArraySlice<UInt8> {
        guard let end = bytes[position...].firstIndex(of: 10) else { throw NoResponse(reason: "an unfinished line") }
        let line = bytes[position..<end]
        guard line.last == 13, line.dropLast().allSatisfy({ $0 == 9 || $0 >= 32 && $0 != 127 }) else {
            throw NoResponse(reason: "a control character, or a line feed alone")
        }
        position = end + 1
        return line.dropLast()
    }

    private mutating func take(_ count: Int) throws(NoResponse) -> ArraySlice<UInt8> {
        guard count <= bytes.count - position else { throw NoResponse(reason: "the body is truncated") }
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
