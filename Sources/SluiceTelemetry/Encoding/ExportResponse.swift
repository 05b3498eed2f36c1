import SluiceFoundation
import SluiceJSON

/// The body of a collector's answer: the part of the data that it did not accept.
struct ExportResponse: Equatable {
    /// The number of spans or points that were rejected.
    var rejected: Int64 = 0
    /// The collector's explanation; may be given without a rejection, as a warning.
    var message = ""

    /// Parses the body; nil if it is not a message of the schema. An empty body accepts all.
    init?(_ body: Data, as format: OTLPFormat) {
        switch format {
        case .protobuf: self.init(protobuf: Array(body))
        case .json: self.init(json: body)
        }
    }

    private init?(json body: Data) {
        if body.isEmpty { return }
        guard let document = try? JSON(parsing: body), let members = document.dictionary else { return nil }
        guard let partial = members["partialSuccess"]?.dictionary else { return }
        let count = partial["rejectedSpans"] ?? partial["rejectedDataPoints"]
        rejected = max(0, count?.int64 ?? count?.string.flatMap { Int64($0) } ?? 0)
        message = partial["errorMessage"]?.string ?? ""
    }

    private init?(protobuf body: [UInt8]) {
        var response = ProtobufReader(body[...])
        while let field = response.next() {
            guard field.number == 1, case .bytes(let partial) = field.value else { continue }
            var reader = ProtobufReader(partial)
            while let field = reader.next() {
                switch (field.number, field.value) {
                case (1, .varint(let count)): rejected = max(0, Int64(bitPattern: count))
                case (2, .bytes(let text)): message = String(decoding: text, as: UTF8.self)
                default: break
                }
            }
            if !reader.isAtEnd { return nil }
        }
        if !response.isAtEnd { return nil }
    }
}

/// A reader of the fields of a protobuf message.
struct ProtobufReader {
    enum Value: Equatable {
        case varint(UInt64)
        case bytes(ArraySlice<UInt8>)
        /// A number of fixed width, which no field that is read here has.
        case skipped
    }

    private var rest: ArraySlice<UInt8>

    init(_ bytes: ArraySlice<UInt8>) {
        rest = bytes
    }

    /// True if all bytes have been read. False after ``next()`` returned nil means that the message is not valid.
    var isAtEnd: Bool { rest.isEmpty }

    /// Returns the next field; nil at the end, and where the message is not valid.
    mutating func next() -> (number: UInt64, value: Value)? {
        var reader = self
        guard let tag = reader.varint(), tag >> 3 > 0, let value = reader.value(ofType: tag & 7) else { return nil }
        self = reader
        return (tag >> 3, value)
    }

    private mutating func value(ofType type: UInt64) -> Value? {
        switch type {
        case 0: varint().map { .varint($0) }
        case 1: take(8).map { _ in .skipped }
        case 2: varint().flatMap { take($0) }.map { .bytes($0) }
        case 5: take(4).map { _ in .skipped }
        default: nil
        }
    }

    private mutating func varint() -> UInt64? {
        var value: UInt64 = 0
        for shift in stride(from: UInt64(0), to: 70, by: 7) {
            guard let byte = rest.popFirst() else { return nil }
            value |= UInt64(byte & 0x7F) << shift
            if byte < 0x80 { return value }
        }
        return nil
    }

    private mutating func take(_ count: UInt64) -> ArraySlice<UInt8>? {
        guard count <= rest.count else { return nil }
        defer { rest = rest.dropFirst(Int(count)) }
        return rest.prefix(Int(count))
    }
}
