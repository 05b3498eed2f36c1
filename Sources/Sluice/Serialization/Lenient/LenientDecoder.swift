#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The decoder of a single value. Each decoder is one step of the coding path.
final class LenientDecoder: Decoder {
    typealias Node = JSONDocument.Node

    let input: LenientInput
    let node: Node
    /// The decoder of the enclosing value; nil for the root value.
    let parent: LenientDecoder?
    /// The key or index of the value in the parent.
    let key: (any CodingKey)?
    /// The type that decodes itself from the value; nil if it is unknown.
    let type: Any.Type?
    let depth: Int

    /// The decoder of the object or array in this string value, once it was requested.
    private var content: LenientDecoder?
    /// The members by their converted names. Created only if a dictionary is faster than a search.
    var members: [String: Node]?
    /// The model's default values, created when the first value is missing.
    var defaults: PropertyDefaults?

    /// Creates the decoder of the root value.
    init(_ input: LenientInput) {
        self.input = input
        node = input.document.root
        parent = nil
        key = nil
        type = nil
        depth = 0
    }

    /// Creates the decoder of a value in an object or array, or of another type for the same value.
    init(
        _ input: LenientInput,
        node: Node,
        parent: LenientDecoder?,
        key: (any CodingKey)?,
        type: Any.Type?,
        depth: Int
    ) {
        self.input = input
        self.node = node
        self.parent = parent
        self.key = key
        self.type = type
        self.depth = depth
    }

    /// Returns the decoder of a value inside this one.
    func child(at node: Node, under key: any CodingKey, type: Any.Type? = nil) -> LenientDecoder {
        LenientDecoder(input, node: node, parent: self, key: key, type: type, depth: depth + 1)
    }

    /// Returns the decoder of a missing value, which is treated as null.
    func absentChild(under key: any CodingKey) -> LenientDecoder {
        let null = LenientInput(.null, decoder: input.decoder, memory: input.memory)
        return LenientDecoder(null, node: null.document.root, parent: self, key: key, type: nil, depth: depth + 1)
    }

    var kind: JSONDocument.Kind { input.kind(of: node) }

    var userInfo: [CodingUserInfoKey: Any] { input.decoder.userInfo }

    var codingPath: [any CodingKey] {
        var path: [any CodingKey] = []
        var decoder: LenientDecoder? = self
        while let step = decoder {
            if let key = step.key { path.append(key) }
            decoder = step.parent
        }
        return path.reversed()
    }

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        KeyedDecodingContainer(LenientKeyedContainer<Key>(decoder: try holding(.object)))
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
        LenientUnkeyedContainer(decoder: try holding(.array))
    }

    func singleValueContainer() throws -> any SingleValueDecodingContainer {
        self
    }

    /// Returns the decoder of an object or array: this decoder, or that of the JSON text in its string.
    private func holding(_ wanted: JSONDocument.Kind) throws -> LenientDecoder {
        if kind == wanted { return self }
        let wantedType: Any.Type = wanted == .object ? [String: Any].self : [Any].self
        guard kind == .string, input.conversions.contains(.jsonInStrings) else { throw mismatch(wantedType) }
        if content == nil { content = try parseString() }
        guard let content, content.kind == wanted else { throw mismatch(wantedType) }
        return content
    }

    /// Parses the string if it looks like an object or array.
    private func parseString() throws -> LenientDecoder? {
        let text = input.document.string(of: node)
        let first = text.utf8.first { !JSONParser.isWhiteSpace($0) }
        guard first == UInt8(ascii: "{") || first == UInt8(ascii: "[") else { return nil }
        do {
            let document = try JSONDocument(text, maximumDepth: JSONParser.maximumDepth - depth)
            let content = LenientInput(document, decoder: input.decoder, memory: input.memory)
            return LenientDecoder(
                content,
                node: document.root,
                parent: parent,
                key: key,
                type: type,
                depth: depth
            )
        } catch {
            throw DecodingError.dataCorrupted(
                DecodingError.Context(
                    codingPath: codingPath,
                    debugDescription: "The string was to hold JSON. \(error.description)",
                    underlyingError: error
                )
            )
        }
    }
}

/// The coding key of an array element.
struct LenientIndex: CodingKey {
    let index: Int

    init(_ index: Int) {
        self.index = index
    }

    init?(intValue: Int) {
        index = intValue
    }

    init?(stringValue: String) {
        nil
    }

    var intValue: Int? { index }
    var stringValue: String { "Index \(index)" }
}

/// The coding key of an object member.
struct LenientName: CodingKey {
    let stringValue: String

    init(_ name: String) {
        stringValue = name
    }

    init?(stringValue: String) {
        self.stringValue = stringValue
    }

    init?(intValue: Int) {
        nil
    }

    var intValue: Int? { nil }
}
