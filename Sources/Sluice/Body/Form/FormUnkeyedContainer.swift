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
