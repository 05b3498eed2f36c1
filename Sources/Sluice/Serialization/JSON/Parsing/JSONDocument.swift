#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A validated JSON text (RFC 8259) with random access to its values.
///
/// The values are stored in a flat array, the tape, in the order of the text and with one entry of fixed size each.
/// Parsing therefore allocates no memory per value. Scalars are decoded from their bytes on access. The name of an
/// object's member is an entry before its value.
package struct JSONDocument: Sendable {
    /// The kinds of a value.
    package enum Kind: UInt8, Sendable {
        case null, `false`, `true`, number, string, array, object
    }

    /// A value of a document. Valid only with the document it came from.
    package struct Node: Hashable, Sendable {
        let index: Int
    }

    /// A tape entry that describes a value.
    struct Entry: Sendable {
        /// The offset of the value's first byte in the text.
        var start: UInt32
        /// The offset after the value's last byte.
        var end: UInt32
        /// The index of the entry after the value and its contents.
        var next: UInt32
        /// The number of elements or members.
        var count: UInt32
        var kind: Kind
        /// True for a string without escapes, and for a number without fraction and exponent.
        var isPlain: Bool
        /// True for a string whose source text is ASCII only.
        var isASCII: Bool
    }

    /// The text, followed by zero bytes.
    let storage: ContiguousArray<UInt8>
    let tape: ContiguousArray<Entry>

    /// Parses a UTF-8 text, which may begin with a byte order mark.
    ///
    /// The default limit of 512 nested arrays and objects is that of `JSONDecoder`.
    package init(_ data: Data, maximumDepth: Int = 512) throws(JSONSyntaxError) {
        try self.init(length: data.count, maximumDepth: maximumDepth) { target in
            data.copyBytes(to: target, count: target.count)
        }
    }

    /// Parses the JSON text of a string. The caller reduces the nesting limit by the depth of that string.
    init(_ text: String, maximumDepth: Int = JSONParser.maximumDepth) throws(JSONSyntaxError) {
        let utf8 = text.utf8
        try self.init(length: utf8.count, maximumDepth: maximumDepth) { target in
            _ = target.update(fromContentsOf: utf8)
        }
    }

    private init(
        length: Int,
        maximumDepth: Int,
        copyingTo copy: (UnsafeMutableBufferPointer<UInt8>) -> Void
    ) throws(JSONSyntaxError) {
        let storage = ContiguousArray<UInt8>(unsafeUninitializedCapacity: length + JSONParser.padding) {
            buffer,
            count in
            count = length + JSONParser.padding
            copy(UnsafeMutableBufferPointer(rebasing: buffer[..<length]))
            UnsafeMutableBufferPointer(rebasing: buffer[length..<count]).initialize(repeating: 0)
        }
        tape = try storage.withUnsafeBufferPointer { (bytes) throws(JSONSyntaxError) in
            try JSONParser.parse(bytes, length: length, maximumDepth: maximumDepth)
        }
        self.storage = storage
    }

    /// A document with the value null.
    static let null = JSONDocument()

    private init() {
        storage = ContiguousArray("null".utf8) + ContiguousArray(repeating: 0, count: JSONParser.padding)
        tape = [Entry(start: 0, end: 4, next: 1, count: 0, kind: .null, isPlain: true, isASCII: true)]
    }

    /// The root value.
    package var root: Node { Node(index: 0) }

    package func kind(of node: Node) -> Kind { tape[node.index].kind }

    /// Returns the number of elements of an array or members of an object, including duplicates; 0 for other values.
    func count(of node: Node) -> Int { Int(tape[node.index].count) }

    /// Returns the unchanged source text of a value as bytes.
    func bytes(of node: Node) -> Data {
        withBytes(of: node) { Data($0) }
    }

    /// Returns the unchanged source text of a value: the literal of a number, or a string with its quotation marks and
    /// escapes.
    package func text(of node: Node) -> String {
        withBytes(of: node) { String(decoding: $0, as: UTF8.self) }
    }

    /// Calls a closure with the source text of a value.
    @inline(__always)
    func withBytes<Result, Failure: Error>(
        of node: Node,
        _ body: (UnsafeBufferPointer<UInt8>) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        let entry = tape[node.index]
        return try storage.withUnsafeBufferPointer { (bytes) throws(Failure) -> Result in
            try body(UnsafeBufferPointer(rebasing: bytes[Int(entry.start)..<Int(entry.end)]))
        }
    }
}
