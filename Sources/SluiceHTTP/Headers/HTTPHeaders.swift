/// Header fields in the order they were added. Names compare without regard to case, and a name may occur several
/// times.
///
/// All fields are stored in one buffer, each as `name: value` followed by a NUL, so that a response's head costs two
/// allocations. A value becomes a `String` only when it is read.
public struct HTTPHeaders: Sendable {
    /// The position of a field in `bytes`. The value begins two bytes after the name and ends before the NUL at `end`.
    private struct Slot: Sendable {
        var start: UInt32
        var nameEnd: UInt32
        var end: UInt32
    }

    private(set) package var bytes: [UInt8] = []
    private var slots: [Slot] = []

    /// Creates an empty set of fields.
    public init() {}

    /// Creates fields from pairs, in their order.
    public init(_ fields: some Sequence<(HTTPHeaderName, String)>) {
        for (name, value) in fields { append(name, value) }
    }

    /// The size of all fields in HTTP/1.1 format, in bytes.
    package var byteCount: Int { bytes.count + slots.count }

    /// The values of `name`, joined by commas (RFC 9110 §5.3); nil if there are none. Setting replaces all of them, at
    /// the position of the first.
    ///
    /// Values of `Set-Cookie` may contain commas: read them with ``values(for:)``.
    public subscript(name: HTTPHeaderName) -> String? {
        get {
            guard let first = firstIndex(of: name, from: 0) else { return nil }
            guard firstIndex(of: name, from: first + 1) != nil else { return value(at: first) }
            return values(for: name).joined(separator: ", ")
        }
        set {
            if let newValue { replace(name, with: newValue) } else { remove(name) }
        }
    }

    /// Returns the values of `name` in their order.
    public func values(for name: HTTPHeaderName) -> [String] {
        var found: [String] = []
        var index = firstIndex(of: name, from: 0)
        while let match = index {
            found.append(value(at: match))
            index = firstIndex(of: name, from: match + 1)
        }
        return found
    }

    /// Makes room for further fields, also in copies that change.
    package mutating func reserveRoom(fields: Int = 12, bytes count: Int = 512) {
        bytes.reserveCapacity(bytes.count + count)
        slots.reserveCapacity(slots.count + fields)
    }

    /// Releases the room for further fields, for headers that are kept for long.
    package mutating func releaseRoom() {
        if bytes.capacity > bytes.count + 64 { bytes = bytes.withUnsafeBufferPointer { Array($0) } }
        if slots.capacity > slots.count + 4 { slots = slots.withUnsafeBufferPointer { Array($0) } }
    }

    /// Returns true if there is a field with that name.
    public func contains(_ name: HTTPHeaderName) -> Bool {
        firstIndex(of: name, from: 0) != nil
    }

    /// Appends a field. Fields with the same name are kept.
    public mutating func append(_ name: HTTPHeaderName, _ value: String) {
        append(name) { $0.append(contentsOf: value.utf8) }
    }

    /// Appends a field with a value in hexadecimal digits.
    ///
    /// - Parameters:
    ///   - name: The name.
    ///   - length: The length of the value.
    ///   - write: Writes the value.
    package mutating func append(_ name: HTTPHeaderName, length: Int, _ write: (inout HexText) -> Void) {
        var name = name.rawValue
        name.withUTF8 { name in
            HexText.withBytes(length: length, write) { append(name: UnsafeRawBufferPointer(name), value: $0) }
        }
    }

    /// Appends a field of another set, its value byte for byte.
    package mutating func append(_ field: Field) {
        if let bytes = field.bytes {
            append(field.name, value: FieldValue(bytes: bytes))
        } else {
            append(field.name, field.value)
        }
    }

    /// Appends a field whose value consists of any bytes.
    package mutating func append(_ name: HTTPHeaderName, value: FieldValue) {
        var name = name.rawValue
        name.withUTF8 { name in
            value.bytes.withUnsafeBytes { append(name: UnsafeRawBufferPointer(name), value: $0) }
        }
    }

    /// Replaces all values of a name with one value of any bytes.
    package mutating func replaceValues(of name: HTTPHeaderName, with value: FieldValue) {
        if let text = value.exactText {
            self[name] = text
        } else {
            remove(name)
            append(name, value: value)
        }
    }

    /// Returns the values of `name` in their order, byte for byte.
    package func fieldValues(for name: HTTPHeaderName) -> [FieldValue] {
        var found: [FieldValue] = []
        var index = firstIndex(of: name, from: 0)
        while let match = index {
            found.append(FieldValue(bytes: valueBytes(at: match)))
            index = firstIndex(of: name, from: match + 1)
        }
        return found
    }

    /// Appends a field whose value is written in place.
    package mutating func append(_ name: HTTPHeaderName, writing value: (inout [UInt8]) -> Void) {
        let start = bytes.count
        bytes.append(text: name.rawValue)
        let nameEnd = bytes.count
        bytes.append(UInt8(ascii: ":"))
        bytes.append(UInt8(ascii: " "))
        value(&bytes)
        close(start: start, nameEnd: nameEnd)
    }

    /// Appends all fields of `other`.
    public mutating func append(contentsOf other: HTTPHeaders) {
        if slots.isEmpty {
            self = other
            return
        }
        let offset = UInt32(bytes.count)
        bytes.append(contentsOf: other.bytes)
        for slot in other.slots {
            slots.append(Slot(start: slot.start + offset, nameEnd: slot.nameEnd + offset, end: slot.end + offset))
        }
    }

    /// Appends a field from the name and the trimmed value of a received line (RFC 9112 §5).
    package mutating func append(name: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer) {
        if bytes.isEmpty {
            bytes.reserveCapacity(512)
            slots.reserveCapacity(12)
        }
        let start = bytes.count
        bytes.append(contentsOf: name)
        let nameEnd = bytes.count
        bytes.append(UInt8(ascii: ":"))
        bytes.append(UInt8(ascii: " "))
        bytes.append(contentsOf: value)
        close(start: start, nameEnd: nameEnd)
    }

    /// Appends a field from a received line that has the form `name: value`, with one space and no other white space
    /// around the value. Copies once instead of four times.
    package mutating func append(line: UnsafeRawBufferPointer, nameLength: Int) {
        if bytes.isEmpty {
            bytes.reserveCapacity(512)
            slots.reserveCapacity(12)
        }
        let start = bytes.count
        bytes.append(contentsOf: line)
        close(start: start, nameEnd: start + nameLength)
    }

    /// Removes all fields with that name.
    public mutating func remove(_ name: HTTPHeaderName) {
        remove(name, from: 0)
    }

    private mutating func remove(_ name: HTTPHeaderName, from start: Int) {
        guard let first = firstIndex(of: name, from: start) else { return }
        var next = firstIndex(of: name, from: first + 1)
        guard next != nil else {
            splice(first, with: EmptyCollection())
            slots.remove(at: first)
            return
        }
        // Copies the fields that remain once, so that any number of fields is removed in linear time.
        var kept = HTTPHeaders()
        kept.bytes = Array(bytes[..<Int(slots[first].start)])
        kept.slots = Array(slots[..<first])
        for index in slots.indices.dropFirst(first + 1) {
            if index == next {
                next = firstIndex(of: name, from: index + 1)
                continue
            }
            let slot = slots[index]
            let position = kept.bytes.count
            kept.bytes.append(contentsOf: bytes[Int(slot.start)..<Int(slot.end)])
            kept.close(start: position, nameEnd: position + Int(slot.nameEnd - slot.start))
        }
        self = kept
    }

    private mutating func replace(_ name: HTTPHeaderName, with value: String) {
        guard let first = firstIndex(of: name, from: 0) else { return append(name, value) }
        remove(name, from: first + 1)
        let (nameLength, length) = (name.rawValue.utf8.count, name.rawValue.utf8.count + value.utf8.count + 3)
        // A copy that changes keeps its room for further fields.
        slots.reserveCapacity(slots.capacity)
        splice(first, with: repeatElement(0, count: length))
        let start = Int(slots[first].start)
        slots[first].nameEnd = UInt32(start + nameLength)
        slots[first].end = UInt32(start + length - 1)
        bytes.withUnsafeMutableBytes { bytes in
            let field = UnsafeMutableRawBufferPointer(rebasing: bytes[start..<start + length])
            field.copyBytes(from: name.rawValue.utf8)
            field[nameLength] = UInt8(ascii: ":")
            field[nameLength + 1] = UInt8(ascii: " ")
            UnsafeMutableRawBufferPointer(rebasing: field[(nameLength + 2)...]).copyBytes(from: value.utf8)
        }
    }

    /// Replaces the bytes of a field, including its NUL, and adjusts the positions of later fields.
    private mutating func splice(_ index: Int, with field: some Collection<UInt8>) {
        let (start, end) = (Int(slots[index].start), Int(slots[index].end) + 1)
        bytes.replaceSubrange(start..<end, with: field)
        let shift = field.count - (end - start)
        for later in slots.indices.dropFirst(index + 1) {
            slots[later].start = UInt32(Int(slots[later].start) + shift)
            slots[later].nameEnd = UInt32(Int(slots[later].nameEnd) + shift)
            slots[later].end = UInt32(Int(slots[later].end) + shift)
        }
    }

    /// Ends the field whose line has been appended to `bytes`.
    private mutating func close(start: Int, nameEnd: Int) {
        slots.append(Slot(start: UInt32(start), nameEnd: UInt32(nameEnd), end: UInt32(bytes.count)))
        bytes.append(0)
    }
}

extension HTTPHeaders {
    /// Returns the position of a field's `name: value` in `bytes`. A value of white space only counts as empty, as in
    /// HTTP.
    package func line(at index: Int) -> (offset: Int, nameLength: Int, end: Int, isValueEmpty: Bool) {
        let slot = slots[index]
        let isEmpty = bytes[Int(slot.nameEnd) + 2..<Int(slot.end)].allSatisfy { $0 == 32 || (9...13).contains($0) }
        return (Int(slot.start), Int(slot.nameEnd - slot.start), Int(slot.end), isEmpty)
    }

    /// Returns the value of a field as a decimal number, without creating a string; nil if it is not one, or if the field is absent or
    /// occurs more than once.
    package func number(of name: HTTPHeaderName) -> Int64? {
        guard let index = firstIndex(of: name, from: 0), firstIndex(of: name, from: index + 1) == nil else {
            return nil
        }
        return valueBytes(at: index).decimalNumber()
    }

    /// The first field that must not be sent: its name is not a token, or its value contains a control character other
    /// than a tab (RFC 9110 §5.5).
    package var firstInvalidField: Field? {
        let index = bytes.withUnsafeBytes { bytes in
            slots.firstIndex { slot in
                if !bytes[Int(slot.start)..<Int(slot.nameEnd)].isToken { return true }
                return UnsafeRawBufferPointer(rebasing: bytes[Int(slot.nameEnd) + 2..<Int(slot.end)]).hasControl
            }
        }
        return index.map { self[$0] }
    }

    private func firstIndex(of name: HTTPHeaderName, from start: Int) -> Int? {
        guard start < slots.count else { return nil }
        var name = name.rawValue
        return name.withUTF8 { name in
            bytes.withUnsafeBufferPointer { bytes in
                slots[start...].firstIndex { slot in
                    guard Int(slot.nameEnd - slot.start) == name.count else { return false }
                    for offset in 0..<name.count
                    where bytes[Int(slot.start) + offset].asciiLowercased != name[offset].asciiLowercased {
                        return false
                    }
                    return true
                }
            }
        }
    }

    private func value(at index: Int) -> String {
        text(from: slots[index].nameEnd + 2, to: slots[index].end)
    }

    private func valueBytes(at index: Int) -> ArraySlice<UInt8> {
        bytes[Int(slots[index].nameEnd) + 2..<Int(slots[index].end)]
    }

    private func nameBytes(at index: Int) -> ArraySlice<UInt8> {
        bytes[Int(slots[index].start)..<Int(slots[index].nameEnd)]
    }

    private func text(from start: UInt32, to end: UInt32) -> String {
        String(decoding: bytes[Int(start)..<Int(end)], as: UTF8.self)
    }
}

extension UnsafeRawBufferPointer {
    /// True if there is a control character other than a tab. Eight bytes at once usually contain none.
    fileprivate var hasControl: Bool {
        var index = 0
        while index + 8 <= count {
            let word = loadUnaligned(fromByteOffset: index, as: UInt64.self)
            // A high bit remains if a byte is below 32, or DEL. The position of that byte is not needed.
            let delete = word ^ 0x7F7F_7F7F_7F7F_7F7F
            let low = (word &- 0x2020_2020_2020_2020) & ~word | (delete &- 0x0101_0101_0101_0101) & ~delete
            if low & 0x8080_8080_8080_8080 != 0, self[index..<index + 8].contains(where: \.isControl) { return true }
            index += 8
        }
        return self[index...].contains(where: \.isControl)
    }
}

extension UInt8 {
    /// True for control characters other than a tab.
    fileprivate var isControl: Bool { self < 0x20 && self != 0x09 || self == 0x7F }
}

extension HTTPHeaders: RandomAccessCollection {
    /// A header field.
    public struct Field: Sendable, Hashable {
        /// The field's name.
        public let name: HTTPHeaderName
        /// The field's value. A received one has no surrounding white space. Invalid UTF-8 becomes replacement
        /// characters.
        public let value: String
        /// The bytes of a value that is not valid UTF-8; nil for all other values.
        package let bytes: [UInt8]?

        /// Compares names without regard to case, and values byte for byte.
        public static func == (lhs: Self, rhs: Self) -> Bool {
            lhs.name == rhs.name && lhs.bytes == rhs.bytes && lhs.value.utf8.elementsEqual(rhs.value.utf8)
        }

        /// Hashes the name and the value.
        public func hash(into hasher: inout Hasher) {
            hasher.combine(name)
            for byte in value.utf8 { hasher.combine(byte) }
            hasher.combine(bytes)
        }
    }

    /// The first position, 0.
    public var startIndex: Int { 0 }
    /// The position after the last field. Repeated names are counted once for each value.
    public var endIndex: Int { slots.count }

    /// The field at a position.
    public subscript(position: Int) -> Field {
        let slot = slots[position]
        let name = HTTPHeaderName(text(from: slot.start, to: slot.nameEnd))
        let value = valueBytes(at: position)
        if let text = String(validating: value, as: UTF8.self) { return Field(name: name, value: text, bytes: nil) }
        return Field(name: name, value: String(decoding: value, as: UTF8.self), bytes: Array(value))
    }
}

extension HTTPHeaders: ExpressibleByDictionaryLiteral, Hashable, CustomStringConvertible {
    /// Creates fields from a literal, in its order.
    public init(dictionaryLiteral elements: (HTTPHeaderName, String)...) {
        self.init(elements)
    }

    /// Returns true if both contain the same fields in the same order. Names compare without regard to case, values
    /// byte for byte.
    public static func == (lhs: Self, rhs: Self) -> Bool {
        guard lhs.slots.count == rhs.slots.count, lhs.bytes.count == rhs.bytes.count else { return false }
        return lhs.indices.allSatisfy { index in
            lhs.nameBytes(at: index).elementsEqual(rhs.nameBytes(at: index)) {
                $0.asciiLowercased == $1.asciiLowercased
            } && lhs.valueBytes(at: index) == rhs.valueBytes(at: index)
        }
    }

    /// Hashes the fields.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(slots.count)
        for index in indices {
            for byte in nameBytes(at: index) { hasher.combine(byte.asciiLowercased) }
            hasher.combine(valueBytes(at: index))
        }
    }

    /// The names only, since values may be secrets.
    public var description: String {
        "[" + map(\.name.rawValue.withoutControls).joined(separator: ", ") + "]"
    }
}

extension HTTPHeaders: CustomReflectable {
    /// The names only, since `dump` would show secrets.
    public var customMirror: Mirror {
        Mirror(self, unlabeledChildren: map(\.name), displayStyle: .collection)
    }
}

extension HTTPHeaders.Field: CustomStringConvertible, CustomReflectable, RedactedMirror {
    /// The name only, since the value may be a secret.
    public var description: String { name.rawValue }
}
