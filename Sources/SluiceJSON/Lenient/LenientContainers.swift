/// The decoding container for the members of an object.
///
/// The generic `decode(_:forKey:)` for scalars satisfies the protocol's requirements for the individual types.
struct LenientKeyedContainer<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let decoder: LenientDecoder

    var codingPath: [any CodingKey] { decoder.codingPath }

    var allKeys: [Key] { decoder.names.compactMap(Key.init(stringValue:)) }

    func contains(_ key: Key) -> Bool {
        decoder.member(key.stringValue) != nil
    }

    /// Returns true if the value is null or missing.
    func decodeNil(forKey key: Key) -> Bool {
        guard let node = decoder.member(key.stringValue) else {
            decoder.input.doubt()
            return true
        }
        return decoder.input.kind(of: node) == .null
    }

    @inline(__always)
    func decode<Value: LenientScalar>(_ type: Value.Type, forKey key: Key) throws -> Value {
        guard let node = decoder.presentMember(key.stringValue) else { return try decoder.replacement(for: key) }
        return try decoder.scalar(at: node) ?? decoder.neutralValue(ofNull: node, under: key)
    }

    func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value {
        guard let node = decoder.presentMember(key.stringValue) else { return try decoder.replacement(type, for: key) }
        return try decoder.decode(type, at: node, under: key)
    }

    func decodeIfPresent<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value? {
        guard let node = decoder.presentMember(key.stringValue) else { return nil }
        return try decoder.decode(type, at: node, under: key)
    }

    func nestedContainer<NestedKey: CodingKey>(
        keyedBy type: NestedKey.Type,
        forKey key: Key
    ) throws -> KeyedDecodingContainer<NestedKey> {
        try part(key, else: .emptyObject).container(keyedBy: type)
    }

    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
        try part(key, else: .emptyArray).unkeyedContainer()
    }

    /// Returns the decoder for a superclass: the value of the key “super”, or null if there is none, as with
    /// `JSONDecoder`.
    func superDecoder() throws -> any Decoder {
        superDecoder(under: PathKey.member("super"))
    }

    func superDecoder(forKey key: Key) throws -> any Decoder {
        superDecoder(under: key)
    }

    private func superDecoder(under key: any CodingKey) -> LenientDecoder {
        decoder.partOfModel(under: key, else: .emptyObject) ?? decoder.absentChild(under: key)
    }

    private func part(_ key: Key, else empty: JSONDocument) throws -> LenientDecoder {
        guard let part = decoder.partOfModel(under: key, else: empty) else { throw decoder.missing(key) }
        return part
    }
}

// MARK: - Optional values

// One method per type, because a generic method does not replace the standard library's default implementations. Those
// look the key up three times.
extension LenientKeyedContainer {
    func decodeIfPresent(_ type: Bool.Type, forKey key: Key) throws -> Bool? { try scalarIfPresent(key) }
    func decodeIfPresent(_ type: String.Type, forKey key: Key) throws -> String? { try scalarIfPresent(key) }
    func decodeIfPresent(_ type: Double.Type, forKey key: Key) throws -> Double? { try scalarIfPresent(key) }
    func decodeIfPresent(_ type: Float.Type, forKey key: Key) throws -> Float? { try scalarIfPresent(key) }
    func decodeIfPresent(_ type: Int.Type, forKey key: Key) throws -> Int? { try scalarIfPresent(key) }
    func decodeIfPresent(_ type: Int8.Type, forKey key: Key) throws -> Int8? { try scalarIfPresent(key) }
    func decodeIfPresent(_ type: Int16.Type, forKey key: Key) throws -> Int16? { try scalarIfPresent(key) }
    func decodeIfPresent(_ type: Int32.Type, forKey key: Key) throws -> Int32? { try scalarIfPresent(key) }
    func decodeIfPresent(_ type: Int64.Type, forKey key: Key) throws -> Int64? { try scalarIfPresent(key) }
    func decodeIfPresent(_ type: Int128.Type, forKey key: Key) throws -> Int128? { try scalarIfPresent(key) }
    func decodeIfPresent(_ type: UInt.Type, forKey key: Key) throws -> UInt? { try scalarIfPresent(key) }
    func decodeIfPresent(_ type: UInt8.Type, forKey key: Key) throws -> UInt8? { try scalarIfPresent(key) }
    func decodeIfPresent(_ type: UInt16.Type, forKey key: Key) throws -> UInt16? { try scalarIfPresent(key) }
    func decodeIfPresent(_ type: UInt32.Type, forKey key: Key) throws -> UInt32? { try scalarIfPresent(key) }
    func decodeIfPresent(_ type: UInt64.Type, forKey key: Key) throws -> UInt64? { try scalarIfPresent(key) }
    func decodeIfPresent(_ type: UInt128.Type, forKey key: Key) throws -> UInt128? { try scalarIfPresent(key) }

    @inline(__always)
    private func scalarIfPresent<Value: LenientScalar>(_ key: Key) throws -> Value? {
        guard let node = decoder.presentMember(key.stringValue) else { return nil }
        return try decoder.scalar(at: node) ?? decoder.neutralValue(ofNull: node, under: key)
    }
}

// MARK: - Lenient unkeyed container

/// The decoding container for the elements of an array.
struct LenientUnkeyedContainer: UnkeyedDecodingContainer {
    private let decoder: LenientDecoder
    private let elementCount: Int
    /// The next element. Not valid at the end.
    private var next: JSONDocument.Node
    private(set) var currentIndex = 0

    init(decoder: LenientDecoder) {
        self.decoder = decoder
        elementCount = decoder.input.document.count(of: decoder.node)
        next = decoder.input.document.firstChild(of: decoder.node)
    }

    var codingPath: [any CodingKey] { decoder.codingPath }

    var count: Int? { elementCount }

    var isAtEnd: Bool { currentIndex >= elementCount }

    private var key: PathKey { .element(currentIndex) }

    mutating func decodeNil() throws -> Bool {
        guard try decoder.input.kind(of: element(Never.self)) == .null else { return false }
        advance()
        return true
    }

    @inline(__always)
    mutating func decode<Value: LenientScalar>(_ type: Value.Type) throws -> Value {
        let node = try element(type)
        let value: Value = try decoder.scalar(at: node) ?? decoder.neutralValue(ofNull: node, under: key)
        advance()
        return value
    }

    mutating func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
        let value = try decoder.decode(type, at: element(type), under: key)
        advance()
        return value
    }

    mutating func decodeIfPresent<Value: Decodable>(_ type: Value.Type) throws -> Value? {
        guard !skipsNull() else { return nil }
        return try decode(type)
    }

    mutating func nestedContainer<NestedKey: CodingKey>(
        keyedBy type: NestedKey.Type
    ) throws -> KeyedDecodingContainer<NestedKey> {
        let container = try decoder.child(at: element(KeyedDecodingContainer<NestedKey>.self), under: key)
            .container(keyedBy: type)
        advance()
        return container
    }

    mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
        let container = try decoder.child(at: element((any UnkeyedDecodingContainer).self), under: key)
            .unkeyedContainer()
        advance()
        return container
    }

    mutating func superDecoder() throws -> any Decoder {
        let child = try decoder.child(at: element((any Decoder).self), under: key)
        advance()
        return child
    }

    @inline(__always)
    private func element(_ expected: Any.Type) throws -> JSONDocument.Node {
        guard !isAtEnd else {
            decoder.input.doubt()
            throw DecodingError.valueNotFound(
                expected,
                DecodingError.Context(
                    codingPath: codingPath + [key],
                    debugDescription: "The array has only \(elementCount) elements."
                )
            )
        }
        return next
    }

    @inline(__always)
    private mutating func advance() {
        next = decoder.input.document.sibling(of: next)
        currentIndex += 1
    }

    /// Skips a null. Returns true if a null was skipped or the array is at its end.
    private mutating func skipsNull() -> Bool {
        guard !isAtEnd else { return true }
        guard decoder.input.kind(of: next) == .null else { return false }
        advance()
        return true
    }
}
