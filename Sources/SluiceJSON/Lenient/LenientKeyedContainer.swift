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
        let key = MemberName("super")
        return decoder.partOfModel(under: key, else: .emptyObject) ?? decoder.absentChild(under: key)
    }

    func superDecoder(forKey key: Key) throws -> any Decoder {
        guard let node = decoder.member(key.stringValue) else { return decoder.absentChild(under: key) }
        return decoder.child(at: node, under: key)
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
    func decodeIfPresent(_ type: Bool.Type, forKey key: Key) throws -> Bool? {
        try scalarIfPresent(key)
    }

    func decodeIfPresent(_ type: String.Type, forKey key: Key) throws -> String? {
        try scalarIfPresent(key)
    }

    func decodeIfPresent(_ type: Double.Type, forKey key: Key) throws -> Double? {
        try scalarIfPresent(key)
    }

    func decodeIfPresent(_ type: Float.Type, forKey key: Key) throws -> Float? {
        try scalarIfPresent(key)
    }

    func decodeIfPresent(_ type: Int.Type, forKey key: Key) throws -> Int? {
        try scalarIfPresent(key)
    }

    func decodeIfPresent(_ type: Int8.Type, forKey key: Key) throws -> Int8? {
        try scalarIfPresent(key)
    }

    func decodeIfPresent(_ type: Int16.Type, forKey key: Key) throws -> Int16? {
        try scalarIfPresent(key)
    }

    func decodeIfPresent(_ type: Int32.Type, forKey key: Key) throws -> Int32? {
        try scalarIfPresent(key)
    }

    func decodeIfPresent(_ type: Int64.Type, forKey key: Key) throws -> Int64? {
        try scalarIfPresent(key)
    }

    func decodeIfPresent(_ type: Int128.Type, forKey key: Key) throws -> Int128? {
        try scalarIfPresent(key)
    }

    func decodeIfPresent(_ type: UInt.Type, forKey key: Key) throws -> UInt? {
        try scalarIfPresent(key)
    }

    func decodeIfPresent(_ type: UInt8.Type, forKey key: Key) throws -> UInt8? {
        try scalarIfPresent(key)
    }

    func decodeIfPresent(_ type: UInt16.Type, forKey key: Key) throws -> UInt16? {
        try scalarIfPresent(key)
    }

    func decodeIfPresent(_ type: UInt32.Type, forKey key: Key) throws -> UInt32? {
        try scalarIfPresent(key)
    }

    func decodeIfPresent(_ type: UInt64.Type, forKey key: Key) throws -> UInt64? {
        try scalarIfPresent(key)
    }

    func decodeIfPresent(_ type: UInt128.Type, forKey key: Key) throws -> UInt128? {
        try scalarIfPresent(key)
    }

    @inline(__always)
    private func scalarIfPresent<Value: LenientScalar>(_ key: Key) throws -> Value? {
        guard let node = decoder.presentMember(key.stringValue) else { return nil }
        return try decoder.scalar(at: node) ?? decoder.neutralValue(ofNull: node, under: key)
    }
}
