#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A JSON text that has been checked whole (RFC 8259) and can be read at any place without being parsed again.
///
/// The values stand on a flat tape in the text's order, one fixed-size entry each, so that parsing allocates nothing for
/// a value: scalars are read from their bytes when they are asked for. A name of an object's member is an entry before
/// its value.
package struct JSONDocument: Sendable {
    /// The kinds of a value.
    package enum Kind: UInt8, Sendable {
        case null, `false`, `true`, number, string, array, object
    }

    /// One value of a document, good only with the document it came from.
    package struct Node: Hashable, Sendable {
        let index: Int
    }

    /// What the tape says of a value.
    struct Entry: Sendable {
        /// The value's first byte in the text.
        var start: UInt32
        /// The byte after its last.
        var end: UInt32
        /// The entry after all that the value holds.
        var next: UInt32
        /// How many elements or members it has.
        var count: UInt32
        var kind: Kind
        /// A string without escapes; a number without fraction and exponent.
        var isPlain: Bool
        /// A string of nothing but ASCII, as written.
        var isASCII: Bool
    }

    /// The text, and zeroes behind it.
    let storage: ContiguousArray<UInt8>
    let tape: ContiguousArray<Entry>

    /// Parses a text of UTF-8, which may begin with a byte order mark.
    ///
    /// Arrays and objects may be nested 512 deep if nothing else is said, as `JSONDecoder` has it.
    package init(_ data: Data, maximumDepth: Int = 512) throws(JSONSyntaxError) {
        try self.init(length: data.count, maximumDepth: maximumDepth) { target in
            data.copyBytes(to: target, count: target.count)
        }
    }

    /// Parses a text that has stood in a string, nested to a depth that depends on how deep that stood.
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

    /// A document of the value null.
    static let null = JSONDocument()

    private init() {
        storage = ContiguousArray("null".utf8) + ContiguousArray(repeating: 0, count: JSONParser.padding)
        tape = [Entry(start: 0, end: 4, next: 1, count: 0, kind: .null, isPlain: true, isASCII: true)]
    }

    /// The text's one value.
    package var root: Node { Node(index: 0) }

    package func kind(of node: Node) -> Kind { tape[node.index].kind }

    /// How many elements an array or members an object has, duplicates counted; 0 for others.
    func count(of node: Node) -> Int { Int(tape[node.index].count) }

    /// The text of a value, exactly as it stands.
    func bytes(of node: Node) -> Data {
        withBytes(of: node) { Data($0) }
    }

    /// The text of a value, exactly as it stands: a number's literal, a string with its quotation marks and escapes.
    package func text(of node: Node) -> String {
        withBytes(of: node) { String(decoding: $0, as: UTF8.self) }
    }

    /// Hands out the text of a value.
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
