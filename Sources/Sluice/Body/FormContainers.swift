/// The encoder of a single value.
final class FormSlot: Encoder {
    let scope: FormScope
    let path: FormPath
    private(set) var node: FormNode

    init(scope: FormScope, path: FormPath, node: FormNode = .nothing) {
        self.scope = scope
        self.path = path
        self.node = node
    }

    var codingPath: [any CodingKey] { path.codingPath }
    var userInfo: [CodingUserInfoKey: Any] { scope.options.userInfo }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        KeyedEncodingContainer(FormKeyedContainer<Key>(scope: scope, path: path, object: object()))
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer {
        FormUnkeyedContainer(scope: scope, path: path, array: array())
    }

    func singleValueContainer() -> any SingleValueEncodingContainer { self }

    /// Returns the same object each time, so that a class and its superclass share one.
    private func object() -> FormObject {
        switch node {
        case .object(let object): return object
        case .nothing:
            let object = FormObject()
            node = .object(object)
            return object
        case .null, .text, .array, .slot:
            scope.fail(secondValue)
            return FormObject()
        }
    }

    private func array() -> FormArray {
        switch node {
        case .array(let array): return array
        case .nothing:
            let array = FormArray()
            node = .array(array)
            return array
        case .null, .text, .object, .slot:
            scope.fail(secondValue)
            return FormArray()
        }
    }

    private var secondValue: FormEncodingFailure {
        FormEncodingFailure(
            at: path,
            .itself,
            "the value was encoded more than once, or in more than one kind of container"
        )
    }

    private func fill(_ node: FormNode) throws(FormEncodingFailure) {
        if let failure = scope.failure { throw failure }
        guard case .nothing = self.node else { throw secondValue }
        self.node = node
    }
}

extension FormSlot: SingleValueEncodingContainer {
    func encodeNil() throws { try fill(.null) }
    func encode(_ value: Bool) throws { try fill(.text(scope.options.boolEncoding.text(of: value))) }
    func encode(_ value: String) throws { try fill(.text(value)) }
    func encode(_ value: Double) throws { try fill(scope.node(of: value, .itself, in: path)) }
    func encode(_ value: Float) throws { try fill(scope.node(of: value, .itself, in: path)) }
    func encode(_ value: some FixedWidthInteger & Encodable) throws { try fill(.text(value.description)) }
    func encode(_ value: Int128) throws { try fill(.text(value.description)) }
    func encode(_ value: UInt128) throws { try fill(.text(value.description)) }
    func encode(_ value: some Encodable) throws { try fill(scope.node(of: value, .itself, in: path)) }
}

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

/// The unkeyed encoding container for the elements of an array.
struct FormUnkeyedContainer: UnkeyedEncodingContainer {
    let scope: FormScope
    let path: FormPath
    let array: FormArray

    var codingPath: [any CodingKey] { path.codingPath }
    var count: Int { array.elements.count }
    private var next: FormPath.Step { .index(count) }

    func nestedContainer<NestedKey: CodingKey>(
        keyedBy keyType: NestedKey.Type
    ) -> KeyedEncodingContainer<NestedKey> {
        slot().container(keyedBy: keyType)
    }

    func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer { slot().unkeyedContainer() }
    func superEncoder() -> any Encoder { slot() }

    private func slot() -> FormSlot {
        // Beyond the depth limit, encode into a detached encoder. The recorded failure is thrown later.
        guard let slot = scope.slot(next, in: path) else { return FormSlot(scope: scope, path: path) }
        array.elements.append(.slot(slot))
        return slot
    }

    private func append(_ node: FormNode) throws(FormEncodingFailure) {
        if let failure = scope.failure { throw failure }
        array.elements.append(node)
    }
}

extension FormUnkeyedContainer {
    func encodeNil() throws { try append(.null) }
    func encode(_ value: Bool) throws { try append(.text(scope.options.boolEncoding.text(of: value))) }
    func encode(_ value: String) throws { try append(.text(value)) }
    func encode(_ value: Double) throws { try append(scope.node(of: value, next, in: path)) }
    func encode(_ value: Float) throws { try append(scope.node(of: value, next, in: path)) }
    func encode(_ value: some FixedWidthInteger & Encodable) throws { try append(.text(value.description)) }
    func encode(_ value: Int128) throws { try append(.text(value.description)) }
    func encode(_ value: UInt128) throws { try append(.text(value.description)) }
    func encode(_ value: some Encodable) throws { try append(scope.node(of: value, next, in: path)) }
}

// MARK: - Contents

/// The encoded form of a value.
enum FormNode {
    /// The value encoded nothing.
    case nothing
    case null
    case text(String)
    case object(FormObject)
    case array(FormArray)
    /// A nested container or super encoder that is filled later.
    case slot(FormSlot)

    var resolved: FormNode {
        if case .slot(let slot) = self { slot.node } else { self }
    }
}

/// The fields of an object, in the order in which they were encoded.
final class FormObject {
    var fields = NamedValues<FormNode>()
}

/// The elements of an array. Elements that encoded nothing are included, because every element has an index.
final class FormArray {
    var elements: [FormNode] = []
}
