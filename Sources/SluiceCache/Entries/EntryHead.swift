import CZlib
import SluiceFoundation
import SluiceHTTP

/// The beginning of an entry's first piece: its metadata except the key and the expiration.
struct EntryHead: Sendable {
    /// The version of the encoding. Entries with another version are not read.
    static let version: UInt8 = 1

    var stored: Date
    var renewal: Duration?
    var tags: Set<String>
    var response: StoredResponse?
    var memory: CacheExpiration.TierExpiration?

    struct Parts: OptionSet {
        let rawValue: UInt8
        static let renewal = Parts(rawValue: 1)
        static let response = Parts(rawValue: 2)
        static let identity = Parts(rawValue: 4)
        static let part = Parts(rawValue: 8)
        static let memory = Parts(rawValue: 16)
        static let all: Parts = [.renewal, .response, .identity, .part, .memory]
    }
}

extension EntryHead {
    init(_ entry: CacheEntry) {
        stored = entry.stored
        renewal = entry.renewal
        tags = entry.tags
        response = entry.response
        memory = entry.memory
    }

    /// The encoded bytes.
    ///
    /// - Parameter clockOffset: The seconds that are added to all times, for a storage with a clock of its own.
    /// - Returns: The bytes.
    func encoded(clockOffset: Double = 0) -> [UInt8] {
        var parts: Parts = []
        if renewal != nil { parts.insert(.renewal) }
        if response != nil { parts.insert(.response) }
        if response?.identity != nil { parts.insert(.identity) }
        if response?.part != nil { parts.insert(.part) }
        if memory != nil { parts.insert(.memory) }
        var writer = EntryHeadWriter(clockOffset: clockOffset)
        writer.append(Self.version)
        writer.append(parts.rawValue)
        writer.append(stored)
        if let renewal { writer.append(renewal.attoseconds) }
        memory?.append(to: &writer)
        writer.append(UInt32(clamping: tags.count))
        for tag in tags { writer.append(tag) }
        if let response { Self.append(response, to: &writer) }
        return writer.bytes
    }

    private static func append(_ response: StoredResponse, to writer: inout EntryHeadWriter) {
        writer.append(response.method.rawValue)
        writer.append(response.url)
        if let identity = response.identity { writer.append(identity) }
        writer.append(response.requested)
        writer.append(response.received)
        if let part = response.part {
            writer.append(part.range.lowerBound)
            writer.append(part.range.upperBound)
            writer.append(part.total)
        }
        writer.append(Int64(response.head.status.rawValue))
        writer.append(Int64(response.head.version.major))
        writer.append(Int64(response.head.version.minor))
        writer.append(response.head.headers)
    }

    /// Decodes a head; nil if the bytes are incomplete, too long or invalid.
    ///
    /// - Parameters:
    ///   - bytes: The bytes.
    ///   - clockOffset: The seconds that were added to all times.
    init?(_ bytes: UnsafeRawBufferPointer, clockOffset: Double = 0) {
        var reader = EntryHeadReader(bytes, clockOffset: clockOffset)
        guard reader.integer(UInt8.self) == Self.version, let rawParts = reader.integer(UInt8.self) else { return nil }
        let parts = Parts(rawValue: rawParts)
        guard Parts.all.isSuperset(of: parts), let stored = reader.date() else { return nil }
        self.stored = stored
        if parts.contains(.renewal) {
            guard let attoseconds = reader.integer(Int128.self) else { return nil }
            renewal = Duration(attoseconds: attoseconds)
        }
        if parts.contains(.memory) {
            guard let memory = CacheExpiration.TierExpiration(&reader) else { return nil }
            self.memory = memory
        }
        guard let count = reader.integer(UInt32.self) else { return nil }
        tags = []
        for _ in 0..<count {
            guard let tag = reader.string() else { return nil }
            tags.insert(tag)
        }
        if parts.contains(.response) {
            guard let response = Self.response(of: &reader, parts) else { return nil }
            self.response = response
        }
        guard reader.isAtEnd else { return nil }
    }

    private static func response(of reader: inout EntryHeadReader, _ parts: Parts) -> StoredResponse? {
        guard let method = reader.string(), let url = reader.string() else { return nil }
        let identity = parts.contains(.identity) ? reader.string() : nil
        if parts.contains(.identity), identity == nil { return nil }
        guard let requested = reader.date(), let received = reader.date() else { return nil }
        var part: StoredPart?
        if parts.contains(.part) {
            guard
                let start = reader.integer(Int64.self),
                let end = reader.integer(Int64.self),
                let total = reader.integer(Int64.self),
                start <= end
            else { return nil }
            part = StoredPart(range: start..<end, total: total)
        }
        guard
            let status = reader.integer(Int64.self).flatMap(Int.init(exactly:)),
            let major = reader.integer(Int64.self).flatMap(Int.init(exactly:)),
            let minor = reader.integer(Int64.self).flatMap(Int.init(exactly:)),
            let headers = reader.headers()
        else { return nil }
        return StoredResponse(
            method: HTTPMethod(rawValue: method),
            url: url,
            identity: identity,
            head: HTTPResponse(
                status: HTTPStatus(rawValue: status),
                headers: headers,
                version: HTTPVersion(major: major, minor: minor)
            ),
            requested: requested,
            received: received,
            part: part
        )
    }
}

extension CacheExpiration.TierExpiration {
    func append(to writer: inout EntryHeadWriter) {
        switch term {
        case .never: writer.append(UInt8(0))
        case .after(let duration):
            writer.append(UInt8(1))
            writer.append(duration.attoseconds)
        case .date(let date):
            writer.append(UInt8(2))
            writer.append(date)
        }
        writer.append(UInt8(isExtended ? 1 : 0))
    }

    /// Decodes an expiration; nil if the bytes are incomplete or invalid.
    init?(_ reader: inout EntryHeadReader) {
        switch reader.integer(UInt8.self) {
        case 0: term = .never
        case 1:
            guard let attoseconds = reader.integer(Int128.self) else { return nil }
            term = .after(Duration(attoseconds: attoseconds))
        case 2:
            guard let date = reader.date() else { return nil }
            term = .date(date)
        default: return nil
        }
        guard let isExtended = reader.integer(UInt8.self), isExtended < 2 else { return nil }
        self.isExtended = isExtended == 1
    }
}

/// Encodes values one after the other. Numbers are little-endian; strings are preceded by their length.
package struct EntryHeadWriter {
    package private(set) var bytes: [UInt8] = []
    /// The seconds that are added to all times.
    private let clockOffset: Double

    package init(clockOffset: Double = 0) {
        self.clockOffset = clockOffset
        bytes.reserveCapacity(1024)
    }

    package mutating func append(_ value: some FixedWidthInteger) {
        withUnsafeBytes(of: value.littleEndian) { bytes.append(contentsOf: $0) }
    }

    package mutating func append(_ date: Date) {
        append((date.timeIntervalSinceReferenceDate + clockOffset).bitPattern)
    }

    package mutating func append(_ string: String) {
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
package struct EntryHeadReader {
    private var rest: Slice<UnsafeRawBufferPointer>
    /// The seconds that were added to all times.
    private let clockOffset: Double

    package init(_ bytes: UnsafeRawBufferPointer, clockOffset: Double = 0) {
        rest = bytes[...]
        self.clockOffset = clockOffset
    }

    package var isAtEnd: Bool { rest.isEmpty }

    /// The number of bytes that are left.
    package var count: Int { rest.count }

    // For calls from other modules, which would otherwise run the generic code. That is many times slower.
    @_specialize(where Value == UInt8)
    @_specialize(where Value == UInt16)
    @_specialize(where Value == Int64)
    package mutating func integer<Value: FixedWidthInteger>(_ type: Value.Type) -> Value? {
        guard let field = take(MemoryLayout<Value>.size) else { return nil }
        return Value(littleEndian: field.loadUnaligned(as: Value.self))
    }

    package mutating func date() -> Date? {
        integer(UInt64.self).map { Date(timeIntervalSinceReferenceDate: Double(bitPattern: $0) - clockOffset) }
    }

    package mutating func string() -> String? {
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

    package mutating func take(_ count: Int) -> UnsafeRawBufferPointer? {
        guard count >= 0, count <= rest.count else { return nil }
        defer { rest = rest.dropFirst(count) }
        return UnsafeRawBufferPointer(rebasing: rest.prefix(count))
    }
}

// MARK: - Checksum

/// The CRC-32 of an entry's key and variant, followed by its head and body. It detects data of another key and data
/// mixed from two entries.
struct EntryChecksum: Sendable {
    private var sum: UInt

    /// Creates the checksum of a key.
    init(_ key: CacheKey, variant: String) {
        sum = crc32_z(0, nil, 0)
        for field in [key.partition, key.name, variant] {
            var field = field
            field.withUTF8 { bytes in
                // Includes the lengths, so that “ab” and “c” differ from “a” and “bc”.
                withUnsafeBytes(of: UInt64(bytes.count).littleEndian) { add($0) }
                add(UnsafeRawBufferPointer(bytes))
            }
        }
        withUnsafeBytes(of: Int64(key.space.rawValue).littleEndian) { add($0) }
    }

    mutating func add(_ bytes: UnsafeRawBufferPointer) {
        // A null pointer would reset the checksum in zlib.
        guard let base = bytes.bindMemory(to: UInt8.self).baseAddress, !bytes.isEmpty else { return }
        sum = crc32_z(sum, base, z_size_t(bytes.count))
    }

    var value: Int64 { Int64(UInt32(truncatingIfNeeded: sum)) }

    /// Returns the checksum of a key and its expiration, which changes while the data does not.
    func seal(until expires: Double?) -> Int64 {
        var seal = self
        withUnsafeBytes(of: (expires ?? .nan).bitPattern.littleEndian) { seal.add($0) }
        return seal.value
    }
}
