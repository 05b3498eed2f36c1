/// Encodes the fields of an object.
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

    /// The place of a key, the same each time, so that a container asked for twice is one.
    private func slot(forKey key: some CodingKey) -> FormSlot {
        let name = key.stringValue
        let current = object.fields[name] ?? .nothing
        if case .slot(let slot) = current { return slot }
        // Where it is too deep, what follows goes nowhere, and the failure is thrown.
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

/// By default these leave nil out; a form's options decide what becomes of it.
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
    /// Without a detour, since the frames of this one add up where values are nested.
    func encodeIfPresent(_ value: (some Encodable)?, forKey key: Key) throws {
        guard let value else { return try set(key, .null) }
        try set(key, scope.node(of: value, .key(key), in: path))
    }
}
