@testable import SluiceHTTP

#if os(Linux)
import SluiceEngine
#endif

extension FuzzTarget {
    /// Parses a request method on the first line, then the bytes of a server. The response equals that of a plain reader,
    /// wherever the bytes are cut and whatever the limit is.
    static let http1Response = FuzzTarget("http1-response") { bytes in
        #if os(Linux)
        var input = FuzzInput(bytes)
        let method = HTTPMethod(rawValue: input.line())
        let response = Array(input.rest)
        let pieces = input.pieces().map { Array($0) }
        for limit in [response.count + 1, response.count / 2] {
            var reference = ReferenceResponse(response, to: method.rawValue, limit: limit)
            reference.read()
            for cut in [[response], pieces, response.map { [$0] }] {
                var reading = ResponseReading(to: method, limit: limit)
                try reading.read(cut)
                let context = "A response in \(cut.count) pieces with a limit of \(limit) is \(reading.events)"
                try require(reading.events == reference.events, "\(context) and not \(reference.events).")
            }
        }
        #endif
    }
}

#if os(Linux)
/// A part of a response. Adjacent pieces of the body form one part.
private enum ResponsePart: Equatable {
    case head(status: Int, minor: Int, fields: [[UInt8]])
    case body([UInt8])
    case end(trailers: [[UInt8]], isReusable: Bool, rest: Int)
    case failed(String)
}

/// Reads a response from pieces, and checks the parser's invariants.
private struct ResponseReading {
    private(set) var events: [ResponsePart] = []
    private var parser: ResponseParser
    private let limit: Int
    private var body: [UInt8] = []
    private var isOver = false

    init(to method: HTTPMethod, limit: Int) {
        parser = ResponseParser(for: method, headLimit: limit)
        self.limit = limit
    }

    mutating func read(_ pieces: [[UInt8]]) throws {
        var input: [UInt8] = []
        for (index, piece) in pieces.enumerated() where !isOver {
            input += piece
            let later = pieces[(index + 1)...].reduce(0) { $0 + $1.count }
            let used = try input.withUnsafeBytes { try read($0, later: later) }
            input.removeFirst(used)
            try require(input.count <= limit || isOver, "The parser leaves more input than the limit.")
        }
        if !isOver { try note(parser.finish(), rest: 0) }
    }

    private mutating func read(_ input: UnsafeRawBufferPointer, later: Int) throws -> Int {
        var position = 0
        while !isOver {
            let (start, left) = (position, parser.bytesLeft)
            let event = parser.next(in: input, from: &position)
            try require((start...input.count).contains(position), "The position leaves the input.")
            switch event {
            case .needsMore:
                return position
            case .body(let range):
                let isUsed = !range.isEmpty && range.lowerBound >= start && range.upperBound == position
                try require(isUsed, "A piece of the body does not end at the position.")
                if let left {
                    try require(parser.bytesLeft == left - Int64(range.count), "The remaining length is wrong.")
                }
                body += input[range]
            default:
                try note(event, rest: input.count - position + later)
            }
        }
        return position
    }

    private mutating func note(_ event: ResponseParser.Event, rest: Int) throws {
        if !body.isEmpty { events.append(.body(body)) }
        body = []
        switch event {
        case .informational(let head), .head(let head):
            try FuzzTarget.checkStorage(of: head.headers)
            let fields = head.headers.parts
            events.append(.head(status: head.status.rawValue, minor: head.version.minor, fields: fields))
        case .end:
            try FuzzTarget.checkStorage(of: parser.trailers)
            try require(parser.isComplete, "A response has ended but is not complete.")
            events.append(.end(trailers: parser.trailers.parts, isReusable: parser.isReusable, rest: rest))
            isOver = true
        case .failed(let error):
            try require(!parser.isComplete && !parser.isReusable, "A failed response is complete or reusable.")
            let isPlain = error.description.unicodeScalars.allSatisfy { $0.value >= 32 && $0.value != 127 }
            try require(isPlain, "An error contains a control character.")
            events.append(.failed("\(error.code)"))
            isOver = true
        case .needsMore, .body:
            break
        }
    }
}

extension HTTPHeaders {
    /// The bytes of each field.
    fileprivate var parts: [[UInt8]] {
        indices.map { index in
            let line = line(at: index)
            return Array(bytes[line.offset..<line.end])
        }
    }
}

/// Reads a whole response in the simplest way.
private struct ReferenceResponse {
    private struct Stop: Error {
        let code: String
    }

    private(set) var events: [ResponsePart] = []
    private var rest: ArraySlice<UInt8>
    private var budget: Int
    private let method: String

    init(_ bytes: [UInt8], to method: String, limit: Int) {
        rest = bytes[...]
        budget = limit
        self.method = method
    }

    mutating func read() {
        do {
            try readMessage()
        } catch {
            events.append(.failed((error as? Stop)?.code ?? "?"))
        }
    }

    private mutating func readMessage() throws {
        var informational = 0
        while true {
            let line = try line(closed: "connectionLost", isStatus: true)
            let (status, minor) = try statusLine(line)
            let fields = try fields(closed: "connectionLost")
            let values = { (name: String) in fields.filter { $0.name == name }.map(\.value) }
            let text = fields.map(\.text)
            let hasBody = method != "HEAD" && status != 204 && status != 304 && status >= 200
            let isTunnel = method == "CONNECT" && status / 100 == 2
            let lengths = values("content-length").flatMap { list($0) }
            if !isTunnel {
                guard lengths.allSatisfy({ !$0.isEmpty && $0.allSatisfy { (48...57).contains($0) } }),
                    lengths.allSatisfy({ Int64(String(decoding: $0, as: UTF8.self)) != nil }),
                    Set(lengths.map { Int64(String(decoding: $0, as: UTF8.self)) }).count < 2
                else { throw Stop(code: "invalidResponse") }
            }
            let length = lengths.first.flatMap { Int64(String(decoding: $0, as: UTF8.self)) }
            let codings = values("transfer-encoding").map { Substring(decoding: $0, as: UTF8.self).lowercased() }
            if hasBody, !isTunnel, !codings.isEmpty {
                let isClear = codings == ["chunked"] && minor == 1 && length == nil
                guard isClear else { throw Stop(code: "invalidResponse") }
            }
            events.append(.head(status: status, minor: minor, fields: text))
            if status < 200 {
                informational += 1
                if informational > 100 { throw Stop(code: "invalidResponse") }
                continue
            }
            let tokens = values("connection").flatMap { list($0) }.map {
                String(decoding: $0, as: UTF8.self).lowercased()
            }
            var keeps = !tokens.contains("close") && (minor == 1 || tokens.contains("keep-alive")) && !isTunnel
            if !codings.isEmpty, minor == 0 || length != nil || status == 204 { keeps = false }
            if status == 204, length ?? 0 > 0 { keeps = false }
            var trailers: [[UInt8]] = []
            if hasBody, !isTunnel {
                if !codings.isEmpty {
                    trailers = try readChunks()
                } else if let length {
                    let body = Array(rest.prefix(Int(length)))
                    rest = rest.dropFirst(body.count)
                    if !body.isEmpty { events.append(.body(body)) }
                    if body.count < Int(length) { throw Stop(code: "truncatedBody") }
                } else {
                    if !rest.isEmpty { events.append(.body(Array(rest))) }
                    rest = []
                    keeps = false
                }
            }
            events.append(.end(trailers: trailers, isReusable: keeps, rest: rest.count))
            return
        }
    }

    private mutating func line(closed: String, isStatus: Bool = false) throws -> [UInt8] {
        let window = Array(rest.prefix(budget))
        guard let feed = window.firstIndex(of: 10) else {
            // The visible bytes decide whether this can still become a line.
            if window.contains(0) || window.dropLast().contains(13) { throw Stop(code: "invalidResponse") }
            if isStatus, !zip(window, "HTTP/1.".utf8).allSatisfy({ $0 == $1 }) { throw Stop(code: "invalidResponse") }
            throw Stop(code: rest.count > budget ? "headersTooLarge" : closed)
        }
        guard feed > 0, window[feed - 1] == 13 else { throw Stop(code: "invalidResponse") }
        rest = rest.dropFirst(feed + 1)
        budget -= feed + 1
        return Array(window[..<(feed - 1)])
    }

    private func statusLine(_ line: [UInt8]) throws -> (status: Int, minor: Int) {
        let words = line.split(separator: 32, maxSplits: 2, omittingEmptySubsequences: false).map { Array($0) }
        guard words.count >= 2, words[0].count == 8, words[0].starts(with: "HTTP/1.".utf8),
            (48...57).contains(words[0][7]), words[1].count == 3, words[1].allSatisfy({ (48...57).contains($0) }),
            words[1][0] != 48, words.count < 3 || words[2].allSatisfy(isText)
        else { throw Stop(code: "invalidResponse") }
        let status = words[1].reduce(0) { $0 * 10 + Int($1) - 48 }
        if status == 101 { throw Stop(code: "invalidResponse") }
        return (status, words[0][7] == 48 ? 0 : 1)
    }

    private func isText(_ byte: UInt8) -> Bool { byte == 9 || (byte >= 32 && byte != 127) }

    private func trimmed(_ text: ArraySlice<UInt8>) -> [UInt8] {
        var text = text.drop { $0 == 32 || $0 == 9 }
        while let last = text.last, last == 32 || last == 9 { text.removeLast() }
        return Array(text)
    }

    private func list(_ value: [UInt8]) -> [[UInt8]] {
        value.split(separator: 44, omittingEmptySubsequences: false).map { trimmed($0) }
    }

    private mutating func fields(closed: String) throws -> [(name: String, value: [UInt8], text: [UInt8])] {
        var fields: [(name: String, value: [UInt8], text: [UInt8])] = []
        while true {
            let line = try line(closed: closed)
            if line.isEmpty { return fields }
            guard let colon = line.firstIndex(of: 58), colon > 0, line[..<colon].allSatisfy(\.isTokenCharacter) else {
                throw Stop(code: "invalidResponse")
            }
            let value = trimmed(line[(colon + 1)...])
            guard value.allSatisfy(isText) else { throw Stop(code: "invalidResponse") }
            if fields.count == 1000 { throw Stop(code: "headersTooLarge") }
            let name = String(decoding: line[..<colon], as: UTF8.self).lowercased()
            fields.append((name, value, Array(line[..<colon]) + [58, 32] + value))
        }
    }

    private mutating func readChunks() throws -> [[UInt8]] {
        var body: [UInt8] = []
        var extensions = 0
        do {
            while true {
                let size = try chunkSize(&extensions)
                if size == 0 { break }
                let data = rest.prefix(Int(size))
                body += data
                rest = rest.dropFirst(data.count)
                if data.count < Int(size) { throw Stop(code: "truncatedBody") }
                for byte: UInt8 in [13, 10] where try readByte() != byte { throw Stop(code: "invalidResponse") }
            }
        } catch {
            if !body.isEmpty { events.append(.body(body)) }
            throw error
        }
        if !body.isEmpty { events.append(.body(body)) }
        let dropped = ["content-length", "transfer-encoding", "host", "trailer"]
        return try fields(closed: "truncatedBody").filter { !dropped.contains($0.name) }.map(\.text)
    }

    private mutating func readByte() throws -> UInt8 {
        guard let byte = rest.popFirst() else { throw Stop(code: "truncatedBody") }
        return byte
    }

    private mutating func chunkSize(_ extensions: inout Int) throws -> Int64 {
        var digits = ""
        var byte = try readByte()
        while Character(Unicode.Scalar(byte)).isHexDigit, byte < 128 {
            digits.unicodeScalars.append(Unicode.Scalar(byte))
            guard digits.count <= 15 else { throw Stop(code: "invalidResponse") }
            byte = try readByte()
        }
        guard let size = Int64(digits, radix: 16), byte == 13 || byte == 59 else { throw Stop(code: "invalidResponse") }
        var own = 0
        while byte != 13 {
            (own, extensions) = (own + 1, extensions + 1)
            guard isText(byte), own <= 4096, extensions <= 65_536 else { throw Stop(code: "invalidResponse") }
            byte = try readByte()
        }
        guard try readByte() == 10 else { throw Stop(code: "invalidResponse") }
        return size
    }
}
#endif
