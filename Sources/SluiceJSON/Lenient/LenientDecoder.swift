import SluiceFoundation

/// The decoder of a single value. Each decoder is one step of the coding path.
final class LenientDecoder: JSONValueDecoder {
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

    /// The decoder of the object or array in this string value, created when it is first requested.
    private var content: LenientDecoder?
    /// The members by their converted names. Created only if a dictionary is faster than a search.
    var members: [String: Node]?
    /// The model's default values, created when the first value is missing.
    var defaults: PropertyDefaults?
    /// True if a model decodes some of its properties from this part of its own value.
    private(set) var isPartOfModel = false

    /// Creates the decoder of the root value.
    init(_ input: LenientInput, for type: Any.Type? = nil) {
        self.input = input
        node = input.document.root
        parent = nil
        key = nil
        self.type = type
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
    func absentChild(under key: any CodingKey) -> LenientDecoder { absentChild(under: key, .null) }

    private func absentChild(under key: any CodingKey, _ document: JSONDocument) -> LenientDecoder {
        let absent = LenientInput(
            document,
            decoder: input.decoder,
            mirrorsJSONDecoder: input.mirrorsJSONDecoder,
            within: input
        )
        return LenientDecoder(absent, node: absent.document.root, parent: self, key: key, type: nil, depth: depth + 1)
    }

    /// Returns the decoder of a part of the model's own value, to which the model's defaults apply.
    ///
    /// - Parameters:
    ///   - key: The key of the part.
    ///   - empty: The value in place of one that is missing or null, where values have replacements.
    /// - Returns: The decoder; nil for a missing value without replacement.
    func partOfModel(under key: any CodingKey, else empty: JSONDocument) -> LenientDecoder? {
        let part: LenientDecoder
        if presentMember(key.stringValue) == nil, modelOfDefaults != nil || input.decoder.fillsMissingValues {
            part = absentChild(under: key, empty)
        } else if let node = member(key.stringValue) {
            part = child(at: node, under: key)
        } else {
            return nil
        }
        part.isPartOfModel = true
        return part
    }

    /// The decoder of the model whose defaults apply to the members of this value; nil if it has none.
    var modelOfDefaults: LenientDecoder? {
        if input.mirrorsJSONDecoder { return nil }
        if type is any DefaultInitializable.Type { return self }
        return isPartOfModel ? parent?.modelOfDefaults : nil
    }

    var kind: JSONDocument.Kind { input.kind(of: node) }

    var value: JSON { JSON(input.document, node) }

    var numberLiteral: String? {
        input.withNumberText(of: node) { String(decoding: $0, as: UTF8.self) }
    }

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
        KeyedDecodingContainer(LenientKeyedContainer<Key>(decoder: try container(of: .object)))
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
        LenientUnkeyedContainer(decoder: try container(of: .array))
    }

    func singleValueContainer() throws -> any SingleValueDecodingContainer {
        self
    }

    /// Returns the decoder of an object or array: this decoder, or that of the JSON text in its string.
    private func container(of expected: JSONDocument.Kind) throws -> LenientDecoder {
        if kind == expected { return self }
        let type: Any.Type = expected == .object ? [String: Any].self : [Any].self
        guard kind == .string, input.convertsTypes else { throw mismatch(type) }
        if content == nil { content = try parseString() }
        guard let content, content.kind == expected else { throw mismatch(type) }
        return content
    }

    /// Parses the string if it looks like an object or array.
    private func parseString() throws -> LenientDecoder? {
        let text = input.document.string(of: node)
        let first = text.utf8.first { !JSONParser.isWhiteSpace($0) }
        guard first == UInt8(ascii: "{") || first == UInt8(ascii: "[") else { return nil }
        do {
            let document = try JSONDocument(text, maximumDepth: JSONParser.maximumDepth - depth)
            let content = LenientInput(document, decoder: input.decoder, within: input)
            let decoder = LenientDecoder(
                content,
                node: document.root,
                parent: parent,
                key: key,
                type: type,
                depth: depth
            )
            decoder.isPartOfModel = isPartOfModel
            return decoder
        } catch {
            throw DecodingError.dataCorrupted(
                DecodingError.Context(
                    codingPath: codingPath,
                    debugDescription: "The string was expected to contain JSON. \(error.description)",
                    underlyingError: error
                )
            )
        }
    }
}

extension LenientDecoder: SingleValueDecodingContainer {
    func decodeNil() -> Bool { kind == .null }

    @inline(__always)
    func decode<Value: LenientScalar>(_ type: Value.Type) throws -> Value {
        try scalar(at: node) ?? neutralValue(ofNull: node, under: nil)
    }

    func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
        try decodeValue(type)
    }
}

// MARK: - Members

extension LenientDecoder {
    /// The maximum number of members for which a linear search is used instead of a dictionary.
    private static let tableThreshold = 16

    /// Returns the value of a member of this object; nil if there is none.
    func member(_ name: String) -> Node? {
        if let members { return members[name] }
        guard input.convertsNames || input.document.count(of: node) > Self.tableThreshold else {
            return input.member(name, of: node)
        }
        var members: [String: Node] = [:]
        members.reserveCapacity(input.document.count(of: node))
        forEachMember { name, value in
            if members[name] == nil { members[name] = value }
        }
        self.members = members
        return members[name]
    }

    /// Returns the value of a member of this object; nil if there is none or it is null.
    @inline(__always)
    func presentMember(_ name: String) -> Node? {
        guard let node = member(name), input.kind(of: node) != .null else { return nil }
        return node
    }

    /// The unique names of this object's members, in order.
    var names: [String] {
        var seen: Set<String> = []
        var names: [String] = []
        forEachMember { name, _ in
            if seen.insert(name).inserted {
                names.append(name)
            } else if input.convertsNames {
                // A `JSONDecoder` with a key strategy decodes all values of a dictionary, also those that it does not keep.
                input.doubt()
            }
        }
        return names
    }

    private func forEachMember(_ body: (String, Node) -> Void) {
        let convert = nameConversion()
        for (key, value) in input.document.members(of: node) {
            let name = input.document.string(of: key)
            body(convert?(name) ?? name, value)
        }
    }

    /// Returns the conversion of this object's names by the key decoding strategy; nil for none.
    private func nameConversion() -> ((String) -> String)? {
        // The keys of a dictionary are data and are not converted.
        guard input.convertsNames, !(type is any StringKeyedDictionary.Type) else { return nil }
        switch input.decoder.keyDecodingStrategy {
        case .useDefaultKeys:
            return nil
        case .convertFromSnakeCase:
            let cache = input.cache
            return { name in
                if let converted = cache.names[name] { return converted }
                let converted = name.convertedFromSnakeCase
                cache.names[name] = converted
                return converted
            }
        case .custom(let convert):
            let path = codingPath
            return { name in convert(path + [PathKey.member(name)]).stringValue }
        @unknown default:
            return nil
        }
    }
}

/// A dictionary with string keys, which a key decoding strategy does not convert.
private protocol StringKeyedDictionary {}

extension Dictionary: StringKeyedDictionary where Key == String, Value: Decodable {}

extension String {
    /// The name converted from snake case to camel case as by `JSONDecoder`: `__one_two_THREE_` is `__oneTwoThree_`.
    fileprivate var convertedFromSnakeCase: String {
        let leading = prefix { $0 == "_" }
        let rest = self[leading.endIndex...]
        let trailing = rest.reversed().prefix { $0 == "_" }.count
        let words = rest.dropLast(trailing).split(separator: "_")
        guard let first = words.first, words.count > 1 else { return self }
        return leading + first.lowercased() + words.dropFirst().map(\.capitalized).joined() + rest.suffix(trailing)
    }
}

// MARK: - Errors

extension LenientDecoder {
    /// Returns the error for a value that does not have the type and cannot be converted to it.
    ///
    /// - Parameters:
    ///   - expected: The requested type.
    ///   - node: The value; nil for this decoder's own value.
    ///   - key: The key of `node`.
    /// - Returns: An error that contains only the kind of the value.
    func mismatch(_ expected: Any.Type, at node: Node? = nil, under key: (any CodingKey)? = nil) -> DecodingError {
        let kind = input.kind(of: node ?? self.node)
        // A `JSONDecoder` throws another error, which the model may catch.
        if kind == .null, expected == Bool.self { input.doubt() }
        let context = DecodingError.Context(
            codingPath: codingPath + (key.map { [$0] } ?? []),
            debugDescription: kind == .null
                ? "Expected \(expected), found null."
                : "Expected \(expected), found \(kind.noun) that cannot be converted without loss."
        )
        return kind == .null ? .valueNotFound(expected, context) : .typeMismatch(expected, context)
    }

    func missing(_ key: any CodingKey) -> DecodingError {
        .keyNotFound(
            key,
            DecodingError.Context(codingPath: codingPath, debugDescription: "The key “\(key.stringValue)” is missing.")
        )
    }

    func corrupted(_ description: String) -> DecodingError {
        .dataCorrupted(DecodingError.Context(codingPath: codingPath, debugDescription: description))
    }
}

extension JSONDocument.Kind {
    fileprivate var noun: String {
        switch self {
        case .null: "null"
        case .true, .false: "a Bool"
        case .number: "a number"
        case .string: "a string"
        case .array: "an array"
        case .object: "an object"
        }
    }
}

// MARK: - Lenient input

/// A JSON document that is being decoded, and the options of the decoder.
final class LenientInput {
    typealias Node = JSONDocument.Node

    let document: JSONDocument
    let decoder: LenientJSONDecoder
    /// True if values are converted to the declared types; copied from the decoder for fast access.
    let convertsTypes: Bool
    let convertsNames: Bool
    /// True if the results are those of a `JSONDecoder`. The decoder then converts no types.
    let mirrorsJSONDecoder: Bool
    /// The input of the text whose string contains this JSON text; nil for the whole text.
    private let whole: LenientInput?
    /// The names converted from snake case.
    var names: [String: String] = [:]
    /// The offsets of properties in the mirrors of types with default values.
    var properties: [ObjectIdentifier: [String: Int]] = [:]
    /// True if a `JSONDecoder` may have returned another value.
    var isDoubtful = false

    /// The input that keeps the results that are needed repeatedly, also for the JSON texts inside strings.
    var cache: LenientInput { whole ?? self }

    init(
        _ document: JSONDocument,
        decoder: LenientJSONDecoder,
        mirrorsJSONDecoder: Bool = false,
        within other: LenientInput? = nil
    ) {
        self.document = document
        self.mirrorsJSONDecoder = mirrorsJSONDecoder
        self.decoder = decoder
        whole = other?.cache
        convertsTypes = decoder.convertsTypes
        if case .useDefaultKeys = decoder.keyDecodingStrategy { convertsNames = false } else { convertsNames = true }
    }

    /// Returns the value of a member of an object; nil if there is none. Not inlined, because each caller would retain the document.
    @inline(never)
    func member(_ name: String, of node: Node) -> Node? { document.member(name, of: node) }

    /// Records that a `JSONDecoder` may return another value than this decoder, if its results are required.
    @inline(never)
    func doubt() {
        if mirrorsJSONDecoder { cache.isDoubtful = true }
    }

    @inline(__always)
    func kind(of node: Node) -> JSONDocument.Kind { document.kind(of: node) }

    /// Calls a closure with the text of a number, or of a string that may contain one, without surrounding whitespace.
    @inline(__always)
    func withNumberText<Result>(of node: Node, _ body: (UnsafeBufferPointer<UInt8>) -> Result?) -> Result? {
        let entry = document.tape[node.index]
        switch entry.kind {
        case .number:
            return document.withBytes(of: node) { body($0) }
        case .string where convertsTypes:
            return withTrimmedString(of: node, body)
        default:
            return nil
        }
    }

    /// Calls a closure with the value of a string, without surrounding whitespace.
    func withTrimmedString<Result>(of node: Node, _ body: (UnsafeBufferPointer<UInt8>) -> Result?) -> Result? {
        if document.tape[node.index].isPlain {
            return document.withBytes(of: node) { bytes in
                body(UnsafeBufferPointer(rebasing: bytes.dropFirst().dropLast().trimmingWhiteSpace))
            }
        }
        var string = document.string(of: node)
        return string.withUTF8 { body(UnsafeBufferPointer(rebasing: $0[...].trimmingWhiteSpace)) }
    }
}
