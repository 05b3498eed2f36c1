import SluiceHTTP

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Encodes values one after the other. Numbers are little-endian; strings are preceded by their length.
struct EntryHeadWriter {
    private(set) var bytes: [UInt8] = []

    init() {
        bytes.reserveCapacity(1024)
    }

    mutating func append(_ value: some FixedWidthInteger) {
        withUnsafeBytes(of: value.littleEndian) { bytes.append(contentsOf: $0) }
    }

    mutating func append(_ date: Date) {
        append(date.timeIntervalSinceReferenceDate.bitPattern)
    }

    mutating func append(_ string: String) {
        var string = string
        string.withUTF8 { append(UnsafeRawBufferPointer($0)) }
    }

    mutating func append(_ headers: HTTPHeaders) {
        append(UInt32(clamping: headers.count))
        headers.bytes.withUnsafeBytes { bytes in
            for index in headers.indices {
                let line = headers.line(at: index)
                let nameEnd = line.offset + line.nameLength
                append(UnsafeRawBufferPointer(rebasing: bytes[line.offset..<nameEnd]))
                append(UnsafeRawBufferPointer(rebasing: bytes[(nameEnd + 2)..<line.end]))
            }
        }
    }

    private mutating func append(_ field: UnsafeRawBufferPointer) {
        // A field longer than 4 GiB cannot be decoded, so the entry is treated as missing.
        append(UInt32(clamping: field.count))
        bytes.append(contentsOf: field)
    }
}

/// Decodes values in the same order; nil if there are too few bytes.
struct EntryHeadReader {
    private var rest: Slice<UnsafeRawBufferPointer>

    init(_ bytes: UnsafeRawBufferPointer) {
        rest = bytes[...]
    }

    var isAtEnd: Bool { rest.isEmpty }

    mutating func integer<Value: FixedWidthInteger>(_ type: Value.Type) -> Value? {
        guard let field = take(MemoryLayout<Value>.size) else { return nil }
        return Value(littleEndian: field.loadUnaligned(as: Value.self))
    }

    mutating func date() -> Date? {
        integer(UInt64.self).map { Date(timeIntervalSinceReferenceDate: Double(bitPattern: $0)) }
    }

    mutating func string() -> String? {
        field().map { String(decoding: $0, as: UTF8.self) }
    }

    mutating func headers() -> HTTPHeaders? {
        guard let count = integer(UInt32.self) else { return nil }
        var headers = HTTPHeaders()
        for _ in 0..<count {
            guard let name = field(), let value = field() else { return nil }
            headers.append(name: name, value: value)
        }
        return headers
    }

    private mutating func field() -> UnsafeRawBufferPointer? {
        integer(UInt32.self).flatMap { take(Int($0)) }
    }

    private mutating func take(_ count: Int) -> UnsafeRawBufferPointer? {
        guard count <= rest.count else { return nil }
        defer { rest = rest.dropFirst(count) }
        return UnsafeRawBufferPointer(rebasing: rest.prefix(count))
    }
}
