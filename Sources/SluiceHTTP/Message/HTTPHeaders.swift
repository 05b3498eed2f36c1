/// Header fields in the order they were added; names compare without regard to case, a name may have several values.
///
/// All fields lie in one buffer, each as `name: value` and a NUL, because that is how libcurl gives and takes them:
/// a response's head costs two allocations, and a value becomes a `String` only when somebody asks for it.
public struct HTTPHeaders: Sendable {
    /// Where a field lies in `bytes`; the value begins two bytes after the name and ends before the NUL at `end`.
    @usableFromInline
    struct Slot: Sendable {
        var start: UInt32
        var nameEnd: UInt32
        var end: UInt32
    }

    private(set) package var bytes: [UInt8] = []
    private var slots: [Slot] = []

    /// Makes an empty set of fields.
    public init() {}

    /// Makes fields of pairs, in their order.
    public init(_ fields: some Sequence<(HTTPHeaderName, String)>) {
        for (name, value) in fields { append(name, value) }
    }

    /// The number of fields, each value of a repeated name counted.
    public var count: Int { slots.count }

    /// Whether there is no field.
    public var isEmpty: Bool { slots.isEmpty }

    /// The size of all fields as HTTP/1.1 writes them, in bytes.
    public var byteCount: Int { bytes.count + slots.count }

    /// The values of `name` joined by a comma (RFC 9110 §5.3), or nil; setting replaces all of them at the first one's place.
    ///
    /// `Set-Cookie` may hold commas of its own: read it with ``values(for:)``.
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

    /// The values of `name` in their order.
    public func values(for name: HTTPHeaderName) -> [String] {
        var found: [String] = []
        var index = firstIndex(of: name, from: 0)
        while let match = index {
            found.append(value(at: match))
            index = firstIndex(of: name, from: match + 1)
        }
        return found
    }

    /// Whether there is a field of that name.
    public func contains(_ name: HTTPHeaderName) -> Bool {
        firstIndex(of: name, from: 0) != nil
    }

    /// Adds a field behind the others, keeping those of the same name.
    public mutating func append(_ name: HTTPHeaderName, _ value: String) {
        let start = bytes.count
        bytes.append(contentsOf: name.rawValue.utf8)
        let nameEnd = bytes.count
        bytes.append(UInt8(ascii: ":"))
        bytes.append(UInt8(ascii: " "))
        bytes.append(contentsOf: value.utf8)
        close(start: start, nameEnd: nameEnd)
    }

    /// Adds all fields of `other` behind these.
    public mutating func append(contentsOf other: HTTPHeaders) {
        if isEmpty {
            self = other
            return
        }
        let offset = UInt32(bytes.count)
        bytes.append(contentsOf: other.bytes)
        for slot in other.slots {
            slots.append(Slot(start: slot.start + offset, nameEnd: slot.nameEnd + offset, end: slot.end + offset))
        }
    }

    /// Adds a field from the bytes of a received line, trimmed of white space around the value (RFC 9112 §5).
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

    /// Adds to the last field's value what a folded line went on with (RFC 9112 §5.2), behind one space.
    package mutating func appendFolded(value: UnsafeRawBufferPointer) {
        guard let last = slots.indices.last, !value.isEmpty else { return }
        bytes.removeLast()
        if slots[last].end > slots[last].nameEnd + 2 { bytes.append(UInt8(ascii: " ")) }
        bytes.append(contentsOf: value)
        slots[last].end = UInt32(bytes.count)
        bytes.append(0)
    }

    /// Removes every field of that name.
    public mutating func remove(_ name: HTTPHeaderName) {
        remove(name, from: 0)
    }

    private mutating func remove(_ name: HTTPHeaderName, from start: Int) {
        while let index = firstIndex(of: name, from: start) {
            splice(index, with: EmptyCollection())
            slots.remove(at: index)
        }
    }

    private mutating func replace(_ name: HTTPHeaderName, with value: String) {
        guard let first = firstIndex(of: name, from: 0) else { return append(name, value) }
        remove(name, from: first + 1)
        let (nameLength, length) = (name.rawValue.utf8.count, name.rawValue.utf8.count + value.utf8.count + 3)
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

    /// Puts other bytes in a field's place, its NUL included, and moves those behind it.
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

    private mutating func close(start: Int, nameEnd: Int) {
        slots.append(Slot(start: UInt32(start), nameEnd: UInt32(nameEnd), end: UInt32(bytes.count)))
        bytes.append(0)
    }
}

extension HTTPHeaders {
    /// Where in `bytes` a field's `name: value` lies, and whether the value is empty or, what is the same to HTTP and
    /// to libcurl, nothing but white space.
    package func line(at index: Int) -> (offset: Int, nameLength: Int, end: Int, isValueEmpty: Bool) {
        let slot = slots[index]
        let isEmpty = bytes[Int(slot.nameEnd) + 2..<Int(slot.end)].allSatisfy { $0 == 32 || (9...13).contains($0) }
        return (Int(slot.start), Int(slot.nameEnd - slot.start), Int(slot.end), isEmpty)
    }

    /// The first field that must not go onto the wire: a name that is no token, or a value with CR, LF or NUL
    /// (RFC 9110 §5.5).
    package var firstInvalidField: Field? {
        let index = bytes.withUnsafeBytes { bytes in
            slots.firstIndex { slot in
                let name = bytes[Int(slot.start)..<Int(slot.nameEnd)]
                if name.isEmpty || !name.allSatisfy(\.isTokenCharacter) { return true }
                return bytes[Int(slot.nameEnd) + 2..<Int(slot.end)].contains { $0 == 0 || $0 == 10 || $0 == 13 }
            }
        }
        return index.map { self[$0] }
    }

    private func firstIndex(of name: HTTPHeaderName, from start: Int) -> Int? {
        guard start < slots.count else { return nil }
        var wanted = name.rawValue
        return wanted.withUTF8 { wanted in
            bytes.withUnsafeBufferPointer { bytes in
                slots[start...].firstIndex { slot in
                    guard Int(slot.nameEnd - slot.start) == wanted.count else { return false }
                    for offset in 0..<wanted.count
                    where bytes[Int(slot.start) + offset].asciiLowercased != wanted[offset].asciiLowercased {
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

    private func text(from start: UInt32, to end: UInt32) -> String {
        String(decoding: bytes[Int(start)..<Int(end)], as: UTF8.self)
    }
}

extension HTTPHeaders: RandomAccessCollection {
    /// One header field.
    public struct Field: Sendable, Hashable {
        /// The field's name.
        public let name: HTTPHeaderName
        /// The field's value, without surrounding white space.
        public let value: String
    }

    /// The first position, 0.
    public var startIndex: Int { 0 }
    /// The position behind the last field.
    public var endIndex: Int { slots.count }

    /// The field at a position.
    public subscript(position: Int) -> Field {
        let slot = slots[position]
        return Field(name: HTTPHeaderName(text(from: slot.start, to: slot.nameEnd)), value: value(at: position))
    }
}

extension HTTPHeaders: ExpressibleByDictionaryLiteral, Hashable, CustomStringConvertible {
    /// Makes fields of a literal, in its order.
    public init(dictionaryLiteral elements: (HTTPHeaderName, String)...) {
        self.init(elements)
    }

    /// Whether both hold the same fields in the same order, names compared without regard to case.
    public static func == (lhs: Self, rhs: Self) -> Bool {
        lhs.elementsEqual(rhs)
    }

    /// Hashes the fields.
    public func hash(into hasher: inout Hasher) {
        for field in self { hasher.combine(field) }
    }

    /// The names only: values may be secrets.
    public var description: String {
        "[" + map(\.name.rawValue).joined(separator: ", ") + "]"
    }
}

extension HTTPHeaders: CustomReflectable {
    /// The names only: `dump` would show secrets.
    public var customMirror: Mirror {
        Mirror(self, unlabeledChildren: map(\.name), displayStyle: .collection)
    }
}

extension HTTPHeaders.Field: CustomStringConvertible, CustomReflectable {
    /// The name only: the value may be a secret, and which are is known to the client alone.
    public var description: String { name.rawValue }

    /// The name only.
    public var customMirror: Mirror { Mirror(self, children: ["name": name], displayStyle: .struct) }
}
