import SluiceFoundation

/// A validated JSON text (RFC 8259) with random access to its values.
///
/// The values are stored in a flat array, the tape, in the order of the text and with one entry of fixed size each.
/// Parsing therefore allocates no memory per value. Scalars are decoded from their bytes on access. The name of an
/// object's member is an entry before its value.
package struct JSONDocument: Sendable {
    package enum Kind: UInt8, Sendable {
        case null, `false`, `true`, number, string, array, object
    }

    /// A value of a document. Valid only with the document it came from.
    package struct Node: Hashable, Sendable {
        package let index: Int
    }

    /// A tape entry that describes a value.
    package struct Entry: Sendable {
        /// The offset of the value's first byte in the text.
        package var start: UInt32
        /// The offset after the value's last byte.
        package var end: UInt32
        /// The index of the entry after the value and its contents.
        var next: UInt32
        /// The number of elements or members.
        var count: UInt32
        package var kind: Kind
        /// True for a string without escapes, and for a number without fraction and exponent.
        var isPlain: Bool
        /// True for a string whose source text is ASCII only.
        var isASCII: Bool
    }

    /// The text, followed by zero bytes.
    package let storage: ContiguousArray<UInt8>
    package let tape: ContiguousArray<Entry>

    /// Parses a UTF-8 text, which may begin with a byte order mark.
    package init(_ data: Data, maximumDepth: Int = JSONParser.maximumDepth) throws(JSONSyntaxError) {
        try self.init(data.withUnsafeBytes { JSONDocument.padded($0) }, maximumDepth)
    }

    /// Parses the JSON text of a string. The caller reduces the nesting limit by the depth of that string.
    package init(_ text: String, maximumDepth: Int = JSONParser.maximumDepth) throws(JSONSyntaxError) {
        var text = text
        try self.init(text.withUTF8 { JSONDocument.padded(UnsafeRawBufferPointer($0)) }, maximumDepth)
    }

    private static func padded(_ text: UnsafeRawBufferPointer) -> ContiguousArray<UInt8> {
        var storage = ContiguousArray<UInt8>()
        storage.reserveCapacity(text.count + JSONParser.padding)
        storage.append(contentsOf: text)
        storage.append(contentsOf: repeatElement(0, count: JSONParser.padding))
        return storage
    }

    private init(_ storage: ContiguousArray<UInt8>, _ maximumDepth: Int) throws(JSONSyntaxError) {
        tape = try storage.withUnsafeBufferPointer { (bytes) throws(JSONSyntaxError) in
            try JSONParser.parse(bytes, length: bytes.count - JSONParser.padding, maximumDepth: maximumDepth)
        }
        self.storage = storage
    }

    static let null = JSONDocument()
    /// The document `{}`.
    static let emptyObject = (try? JSONDocument("{}")) ?? .null
    /// The document `[]`.
    static let emptyArray = (try? JSONDocument("[]")) ?? .null

    private init() {
        storage = ContiguousArray("null".utf8) + ContiguousArray(repeating: 0, count: JSONParser.padding)
        tape = [Entry(start: 0, end: 4, next: 1, count: 0, kind: .null, isPlain: true, isASCII: true)]
    }

    package var root: Node { Node(index: 0) }

    package func kind(of node: Node) -> Kind { tape[node.index].kind }

    /// Returns the number of elements of an array or members of an object, including duplicates; 0 for other values.
    package func count(of node: Node) -> Int { Int(tape[node.index].count) }

    /// Returns the unchanged source text of a value as bytes.
    package func bytes(of node: Node) -> Data {
        withBytes(of: node) { Data($0) }
    }

    /// Returns the unchanged source text of a value: the literal of a number, or a string with its quotation marks and
    /// escapes.
    package func text(of node: Node) -> String {
        withBytes(of: node) { String(decoding: $0, as: UTF8.self) }
    }

    /// Calls a closure with the source text of a value.
    @inline(__always)
    package func withBytes<Result, Failure: Error>(
        of node: Node,
        _ body: (UnsafeBufferPointer<UInt8>) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        let entry = tape[node.index]
        return try storage.withUnsafeBufferPointer { (bytes) throws(Failure) -> Result in
            try body(UnsafeBufferPointer(rebasing: bytes[Int(entry.start)..<Int(entry.end)]))
        }
    }
}

// MARK: - Elements and members

extension JSONDocument {
    /// Returns the elements of an array, in order; nothing for other values.
    package func elements(of node: Node) -> Elements {
        let entry = tape[node.index]
        return Elements(
            document: self,
            position: node.index + 1,
            end: entry.kind == .array ? Int(entry.next) : node.index + 1
        )
    }

    /// Returns the members of an object, in order and including duplicates; nothing for other values.
    package func members(of node: Node) -> Members {
        let entry = tape[node.index]
        return Members(
            document: self,
            position: node.index + 1,
            end: entry.kind == .object ? Int(entry.next) : node.index + 1
        )
    }

    /// Returns the value of an object's member.
    ///
    /// - Parameters:
    ///   - name: The name of the member. If several members have this name, the first is used, as with `JSONDecoder`.
    ///   - node: The object.
    /// - Returns: The value; nil if there is no such member or the node is not an object.
    package func member(_ name: String, of node: Node) -> Node? {
        let object = tape[node.index]
        guard object.kind == .object else { return nil }
        var name = name
        let result = name.withUTF8 { name in
            tape.withUnsafeBufferPointer { tape in
                storage.withUnsafeBufferPointer { bytes in
                    Self.member(name, between: node.index + 1, and: Int(object.next), of: tape, in: bytes)
                }
            }
        }
        switch result {
        case .found(let index): return Node(index: index)
        case .none: return nil
        case .undecided(let index):
            // Names that are not plain ASCII can be written in several ways.
            let rest = Members(document: self, position: index, end: Int(object.next))
            return rest.first { string(of: $0.key, equals: name) }?.value
        }
    }

    /// The result of a search for a member by the bytes of its name.
    private enum MemberSearch {
        /// The index of the member's value.
        case found(Int)
        case none
        /// A comparison of bytes is not sufficient from the member on whose name has the index.
        case undecided(Int)
    }

    /// Finds a member by the bytes of its name.
    private static func member(
        _ name: UnsafeBufferPointer<UInt8>,
        between start: Int,
        and end: Int,
        of tape: UnsafeBufferPointer<Entry>,
        in bytes: UnsafeBufferPointer<UInt8>
    ) -> MemberSearch {
        guard name.allSatisfy({ $0 < 0x80 }) else { return .undecided(start) }
        var position = start
        while position < end {
            let key = tape[position]
            guard key.isPlain, key.isASCII else { return .undecided(position) }
            let first = Int(key.start) + 1
            if Int(key.end) - first - 1 == name.count,
                name.indices.allSatisfy({ bytes[first + $0] == name[$0] })
            {
                return .found(position + 1)
            }
            position = Int(tape[position + 1].next)
        }
        return .none
    }

    /// Returns the first element of an array, or the name of the first member of an object. The container must not be
    /// empty.
    func firstChild(of node: Node) -> Node { Node(index: node.index + 1) }

    /// Returns the value after a value that is not the last in its container.
    func sibling(of node: Node) -> Node { Node(index: Int(tape[node.index].next)) }

    /// Returns the element at an index; nil if there is none or the node is not an array.
    package func element(_ index: Int, of node: Node) -> Node? {
        guard kind(of: node) == .array, index >= 0, index < count(of: node) else { return nil }
        var elements = elements(of: node).makeIterator()
        for _ in 0..<index { _ = elements.next() }
        return elements.next()
    }

    package struct Elements: Sequence, IteratorProtocol, Sendable {
        fileprivate let document: JSONDocument
        fileprivate var position: Int
        fileprivate let end: Int

        package mutating func next() -> Node? {
            guard position < end else { return nil }
            let node = Node(index: position)
            position = Int(document.tape[position].next)
            return node
        }
    }

    package struct Members: Sequence, IteratorProtocol, Sendable {
        fileprivate let document: JSONDocument
        fileprivate var position: Int
        fileprivate let end: Int

        package mutating func next() -> (key: Node, value: Node)? {
            guard position < end else { return nil }
            let key = Node(index: position)
            let value = Node(index: position + 1)
            position = Int(document.tape[position + 1].next)
            return (key, value)
        }
    }
}

// MARK: - Strings

extension JSONDocument {
    /// Returns the value of a string with its escapes resolved, or the source text of another value.
    package func string(of node: Node) -> String {
        let entry = tape[node.index]
        guard entry.kind == .string else { return text(of: node) }
        return withBytes(of: node) { bytes in
            let content = UnsafeBufferPointer(rebasing: bytes[1..<(bytes.count - 1)])
            return entry.isPlain ? String(decoding: content, as: UTF8.self) : Self.resolvingEscapes(of: content)
        }
    }

    /// Returns true if the node is a string that equals another by canonical equivalence, as Swift compares strings.
    package func string(of node: Node, equals other: String) -> Bool {
        let entry = tape[node.index]
        guard entry.kind == .string else { return false }
        var other = other
        let isEqual: Bool? = other.withUTF8 { utf8 in
            guard entry.isPlain else { return nil }
            let hasEqualBytes = withBytes(of: node) { bytes in
                bytes.count - 2 == utf8.count && bytes[1..<(bytes.count - 1)].elementsEqual(utf8)
            }
            if hasEqualBytes { return true }
            return entry.isASCII && utf8.allSatisfy { $0 < 0x80 } ? false : nil
        }
        return isEqual ?? (string(of: node) == other)
    }

    /// Returns true if the node is a string with the same bytes as another, once its escapes are resolved.
    package func string(of node: Node, hasBytesOf other: String) -> Bool {
        tape[node.index].kind == .string && string(of: node).utf8.elementsEqual(other.utf8)
    }

    private static func resolvingEscapes(of content: UnsafeBufferPointer<UInt8>) -> String {
        // An escape is never shorter than its UTF-8 encoding.
        String(unsafeUninitializedCapacity: content.count) { target in
            var length = 0
            var position = 0
            while position < content.count {
                let byte = content[position]
                position += 1
                guard byte == UInt8(ascii: "\\"), position < content.count else {
                    target[length] = byte
                    length += 1
                    continue
                }
                let escape = content[position]
                position += 1
                if escape == UInt8(ascii: "u") {
                    var scalar = hexadecimal(in: content, at: position)
                    position += 4
                    if scalar & 0xFC00 == 0xD800 {
                        scalar =
                            0x10000 + ((scalar & 0x3FF) << 10 | (hexadecimal(in: content, at: position + 2) & 0x3FF))
                        position += 6
                    }
                    for byte in UTF8.encode(Unicode.Scalar(scalar) ?? "\u{FFFD}") ?? UTF8.encodedReplacementCharacter {
                        target[length] = byte
                        length += 1
                    }
                } else {
                    target[length] = Self.resolved(escape)
                    length += 1
                }
            }
            return length
        }
    }

    private static func resolved(_ escape: UInt8) -> UInt8 {
        switch escape {
        case UInt8(ascii: "b"): 0x08
        case UInt8(ascii: "f"): 0x0C
        case UInt8(ascii: "n"): 0x0A
        case UInt8(ascii: "r"): 0x0D
        case UInt8(ascii: "t"): 0x09
        default: escape
        }
    }

    private static func hexadecimal(in content: UnsafeBufferPointer<UInt8>, at position: Int) -> UInt32 {
        guard position + 4 <= content.count else { return 0xFFFD }
        var value: UInt32 = 0
        for byte in content[position..<(position + 4)] {
            value = value << 4 | UInt32(byte & 0xF) + (byte > UInt8(ascii: "9") ? 9 : 0)
        }
        return value
    }
}
