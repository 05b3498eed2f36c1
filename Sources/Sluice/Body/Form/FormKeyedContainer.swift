/// The keyed encoding container for the fields of an object.
struct FormKeyedContainer<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let scope: FormScope
    let path: FormPath
    let object: FormObject

    var codingPath: [any CodingKey] { path.codingPath }

    func nestedContainer<NestedKey: CodingKey>(
        keyedBy keyType: NestedKey.Type,
        forKey key: Key
    ) -> KeyedEncodingContainer<NestedKey> {
        slot(forKey: key).container(keyedBy: keyType)
    }

    func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
        slot(forKey: key).unkeyedContainer()
    }

    func superEncoder() -> any Encoder { slot(forKey: Parameters.Name(stringValue: "super")) }
    func superEncoder(forKey key: Key) -> any Encoder { slot(forKey: key) }

    /// Returns the encoder for a key. The same key always returns the same encoder, so repeated requests for its
    /// container share one.
    private func slot(forKey key: some CodingKey) -> FormSlot {
        let name = key.stringValue
        let current = object.fields[name] ?? .nothing
        if case .slot(let slot) = current { return slot }
        // Beyond the depth limit, encode into a detached encoder. The recorded failure is thrown later.
        guard let slot = scope.slot(.key(key), in: path, holding: current) else {
            return FormSlot(scope: scope, path: path)
        }
        object.fields.set(name, .slot(slot))
        return slot
    }

    private func set(_ key: Key, _ node: FormNode) throws(FormEncodingFailure) {
        if let failure = scope.failure { throw failure }
        object.fields.set(key.stringValue, node)
    }
}

extension FormKeyedContainer {
    func encodeNil(forKey key: Key) throws { try set(key, .null) }
    func encode(_ value: Bool, forKey key: Key) throws {
        try set(key, .text(scope.options.boolEncoding.text(of: value)))
    }
    func encode(_ value: String, forKey key: Key) throws { try set(key, .text(value)) }
    func encode(_ value: Double, forKey key: Key) throws { try set(key, scope.node(of: value, .key(key), in: path)) }
    func encode(_ value: Float, forKey key: Key) throws { try set(key, scope.node(of: value, .key(key), in: path)) }
    func encode(_ value: some FixedWidthInteger & Encodable, forKey key: Key) throws {
        try set(key, .text(value.description))
    }
    func encode(_ value: Int128, forKey key: Key) throws { try set(key, .text(value.description)) }
    func encode(_ value: UInt128, forKey key: Key) throws { try set(key, .text(value.description)) }
    func encode(_ value: some Encodable, forKey key: Key) throws {
        try set(key, scope.node(of: value, .key(key), in: path))
    }
}

/// The default implementations omit nil. These pass nil on, so that the encoder's `nilEncoding` decides.
extension FormKeyedContainer {
    private func encodeOptional(_ value: (some Encodable)?, _ key: Key) throws {
        if let value { try encode(value, forKey: key) } else { try encodeNil(forKey: key) }
    }

    func encodeIfPresent(_ value: Bool?, forKey key: Key) throws { try encodeOptional(value, key) }
    func encodeIfPresent(_ value: String?, forKey key: Key) throws { try encodeOptional(value, key) }
    func encodeIfPresent(_ value: Double?, forKey key: Key) throws { try encodeOptional(value, key) }
    func encodeIfPresent(_ value: Float?, forKey key: Key) throws { try encodeOptional(value, key) }
    func encodeIfPresent(_ value: Int?, forKey key: Key) throws { try encodeOptional(value, key) }
    func encodeIfPresent(_ value: Int8?, forKey key: Key) throws { try encodeOptional(value, key) }
    func encodeIfPresent(_ value: Int16?, forKey key: Key) throws { try encodeOptional(value, key) }
    func encodeIfPresent(_ value: Int32?, forKey key: Key) throws { try encodeOptional(value, key) }
    func encodeIfPresent(_ value: Int64?, forKey key: Key) throws { try encodeOptional(value, key) }
    func encodeIfPresent(_ value: Int128?, forKey key: Key) throws { try encodeOptional(value, key) }
    func encodeIfPresent(_ value: UInt?, forKey key: Key) throws { try encodeOptional(value, key) }
    func encodeIfPresent(_ value: UInt8?, forKey key: Key) throws { try encodeOptional(value, key) }
    func encodeIfPresent(_ value: UInt16?, forKey key: Key) throws { try encodeOptional(value, key) }
    func encodeIfPresent(_ value: UInt32?, forKey key: Key) throws { try encodeOptional(value, key) }
    func encodeIfPresent(_ value: UInt64?, forKey key: Key) throws { try encodeOptional(value, key) }
    func encodeIfPresent(_ value: UInt128?, forKey key: Key) throws { try encodeOptional(value, key) }
    /// Implemented directly, to use less stack for each level of nesting.
    func encodeIfPresent(_ value: (some Encodable)?, forKey key: Key) throws {
        guard let value else { return try set(key, .null) }
        try set(key, scope.node(of: value, .key(key), in: path))
    }
}
