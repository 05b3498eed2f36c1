import SluiceFoundation
import SluiceHTTP

/// Parses a body with one JSON text per line, such as NDJSON or JSON Lines.
struct JSONLineParser<Value: Decodable & Sendable>: StreamParser, JSONLineCounting {
    private var reader: LineReader
    private let serializer: CodableSerializer<Value>
    fileprivate(set) var number = 0

    init(_ decoder: SharedDecoder, limit: Int) {
        serializer = CodableSerializer(decoder)
        reader = LineReader(endingAt: .lineFeed, limit: limit)
    }

    mutating func append(_ chunk: Data) {
        reader.append(chunk)
    }

    mutating func finish() {
        reader.finish()
    }

    var unread: Data { reader.unread }

    mutating func next() throws(SluiceError) -> Value? {
        while true {
            let line = try reader.next(&number) { number, line -> Data? in
                number += 1
                return line.allSatisfy(\.isWhiteSpace) ? nil : Data(line)
            }
            guard let line else { return nil }
            guard let line else { continue }
            do {
                return try serializer.model(of: line)
            } catch {
                throw error.inLine(number)
            }
        }
    }
}

/// A parser of JSON lines, whatever its values.
private protocol JSONLineCounting {
    var number: Int { get }
}

extension JSONLineParser: ContinuingParser {
    /// Continues the numbers of the lines.
    mutating func resume(after other: any StreamParser) {
        if let other = other as? any JSONLineCounting { number = other.number }
    }
}

extension UInt8 {
    /// True for the whitespace of JSON (RFC 8259 §2) except the line feed.
    fileprivate var isWhiteSpace: Bool { self == 0x20 || self == 0x09 || self == 0x0D }
}

extension SluiceError {
    fileprivate func inLine(_ number: Int) -> SluiceError {
        guard let failure = underlyingError as? DecodingFailure else { return self }
        let location = failure.codingPath.isEmpty ? "" : "at “\(failure.codingPath)”, "
        return SluiceError(
            .decodingFailed,
            "Line \(number) of the response could not be decoded as \(failure.type): \(location)\(failure.reason).",
            step: .serialization,
            underlyingError: failure
        )
    }
}
