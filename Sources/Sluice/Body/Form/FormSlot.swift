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
        FormEncodingFailure(at: path, .itself, "a value encodes itself twice, or in two different ways")
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
