import SluiceFoundation
import SluiceJSON

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

    func superEncoder() -> any Encoder { slot(forKey: PathKey.member("super")) }
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

    func nestedContainer<NestedKey: CodingKey>(keyedBy keyType: NestedKey.Type) -> KeyedEncodingContainer<NestedKey> {
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

// MARK: - Form scope

/// The state that all encoders and containers of one encoding share: the options, and the first failure that could not
/// be thrown where it occurred.
final class FormScope {
    let options: URLEncodedFormEncoder
    private(set) var failure: FormEncodingFailure?

    init(options: URLEncodedFormEncoder) {
        self.options = options
    }

    /// Records a failure if it is the first. The next throwing call throws it.
    func fail(_ failure: @autoclosure () -> FormEncodingFailure) {
        if self.failure == nil { self.failure = failure() }
    }

    /// Encodes a value.
    ///
    /// - Parameters:
    ///   - value: The value to encode.
    ///   - step: The step from the path to the value.
    ///   - path: The path of the enclosing value.
    /// - Returns: The encoded form of the value.
    /// - Throws: A ``FormEncodingFailure`` for the innermost value that cannot be encoded.
    func node<Value: Encodable>(
        of value: Value,
        _ step: FormPath.Step,
        in path: FormPath
    ) throws(FormEncodingFailure) -> FormNode {
        if let failure { throw failure }
        do {
            if let node = try wellKnown(value, step, path) { return node }
            guard let deeper = path.appending(step) else { throw tooDeep(step, path) }
            let slot = FormSlot(scope: self, path: deeper)
            try value.encode(to: slot)
            return slot.node
        } catch let failure as FormEncodingFailure {
            throw failure
        } catch {
            throw FormEncodingFailure(at: path, step, "encoding threw \(type(of: error))", cause: error)
        }
    }

    /// Creates the encoder for a nested container or a super encoder. Beyond the depth limit, records a failure and
    /// returns nil.
    func slot(_ step: FormPath.Step, in path: FormPath, holding node: FormNode = .nothing) -> FormSlot? {
        if let deeper = path.appending(step) { return FormSlot(scope: self, path: deeper, node: node) }
        fail(tooDeep(step, path))
        return nil
    }

    /// Returns the text of a number.
    func node(
        of number: some BinaryFloatingPoint & CustomStringConvertible,
        _ step: FormPath.Step,
        in path: FormPath
    ) throws(FormEncodingFailure) -> FormNode {
        if number.isFinite { return .text(number.description) }
        throw FormEncodingFailure(at: path, step, "the number \(number) cannot be represented in a form")
    }

    /// Encodes the types for which a form does not use `encode(to:)`, and two common types for speed. Returns nil for
    /// others.
    private func wellKnown<Value>(_ value: Value, _ step: FormPath.Step, _ path: FormPath) throws -> FormNode? {
        if Value.self == String.self { return (value as? String).map(FormNode.text) }
        if Value.self == Int.self { return (value as? Int).map { .text($0.description) } }
        if Value.self == URL.self { return (value as? URL).map { .text($0.absoluteString) } }
        if Value.self == Date.self, let date = value as? Date {
            if case .custom(let encode) = options.dateEncoding {
                return try node(step, in: path) { try encode(date, $0) }
            }
            if let text = options.text(of: date) { return .text(text) }
            throw FormEncodingFailure(at: path, step, "the date cannot be represented in the encoder's date format")
        }
        if Value.self == Data.self, let data = value as? Data {
            switch options.dataEncoding {
            case .deferredToData: return nil
            case .base64: return .text(data.base64EncodedString())
            case .custom(let encode): return try node(step, in: path) { try encode(data, $0) }
            @unknown default: throw FormEncodingFailure(at: path, step, "the encoder's data format is not supported")
            }
        }
        if Value.self == Decimal.self, let number = value as? Decimal {
            if number.isFinite { return .text(number.description) }
            throw FormEncodingFailure(at: path, step, "the number \(number) cannot be represented in a form")
        }
        return nil
    }

    /// Returns what a closure of the options encodes in place of the value.
    private func node(
        _ step: FormPath.Step,
        in path: FormPath,
        by encode: (any Encoder) throws -> Void
    ) throws -> FormNode {
        guard let deeper = path.appending(step) else { throw tooDeep(step, path) }
        let slot = FormSlot(scope: self, path: deeper)
        try encode(slot)
        return slot.node
    }

    private func tooDeep(_ step: FormPath.Step, _ path: FormPath) -> FormEncodingFailure {
        FormEncodingFailure(
            at: path,
            step,
            "values are nested more than \(FormPath.depthLimit) levels deep, possibly because a value contains itself"
        )
    }
}

/// The position of the encoder in the value.
///
/// A linked list of steps, converted to text or coding keys only when needed.
final class FormPath: Sendable {
    enum Step: Sendable {
        case key(any CodingKey)
        case index(Int)
        /// The value takes the place of the value around it, at the same level.
        case itself
    }

    /// The maximum nesting depth. Stops the encoding of a value that contains itself.
    static let depthLimit = 512
    /// The maximum length of the text of a path, in characters.
    private static let textLimit = 256

    let parent: FormPath?
    let step: Step
    let depth: Int

    private init(parent: FormPath?, step: Step, depth: Int) {
        self.parent = parent
        self.step = step
        self.depth = depth
    }

    /// Creates the path of the root value.
    convenience init() {
        self.init(parent: nil, step: .itself, depth: 0)
    }

    /// Returns the path extended by a step, or nil beyond the depth limit.
    func appending(_ step: Step) -> FormPath? {
        depth < Self.depthLimit ? FormPath(parent: self, step: step, depth: depth + 1) : nil
    }

    /// The steps from the root value to this position.
    private var steps: [Step] {
        var steps: [Step] = []
        var path: FormPath? = self
        while let here = path {
            steps.append(here.step)
            path = here.parent
        }
        return steps.reversed()
    }

    var codingPath: [any CodingKey] {
        steps.compactMap { step in
            switch step {
            case .key(let key): key
            case .index(let index): PathKey.element(index)
            case .itself: nil
            }
        }
    }

    /// Returns the path as text, such as `items[0].id`, truncated if it is very long; empty for the root value.
    func text(appending last: Step) -> String {
        var text = ""
        for step in steps + [last] {
            switch step {
            case .key(let key): text += text.isEmpty ? key.stringValue : ".\(key.stringValue)"
            case .index(let index): text += "[\(index)]"
            case .itself: break
            }
        }
        return text.count > Self.textLimit ? "\(text.prefix(Self.textLimit))…" : text
    }
}

// MARK: - Form writer

/// Writes an encoded value as `name=value&name=value`.
struct FormWriter {
    private(set) var output: [UInt8] = []
    /// The name of the current field, unescaped. Nested fields append to it and remove their suffix again.
    private var name: [UInt8] = []
    private let options: URLEncodedFormEncoder
    private let isSpacePlus: Bool

    init(options: URLEncodedFormEncoder) {
        self.options = options
        isSpacePlus = options.spaceEncoding == .plusReplaced
        output.reserveCapacity(128)
    }

    /// Writes the fields of the root value.
    mutating func writeAll(of object: FormObject) {
        for field in ordered(object) {
            name.append(contentsOf: field.name.utf8)
            write(field.value)
            name.removeAll(keepingCapacity: true)
        }
    }

    /// Writes a value under the current name.
    private mutating func write(_ node: FormNode) {
        switch node {
        case .nothing: break
        case .null: if let text = options.nilEncoding.text { write(text) }
        case .text(let text): write(text)
        case .object(let object): write(object)
        case .array(let array): write(array)
        case .slot(let slot): write(slot.node)
        }
    }

    private mutating func write(_ object: FormObject) {
        let length = name.count
        for field in ordered(object) {
            switch options.keyPathEncoding {
            case .brackets:
                name.append(UInt8(ascii: "["))
                name.append(contentsOf: field.name.utf8)
                name.append(UInt8(ascii: "]"))
            case .dots:
                name.append(UInt8(ascii: "."))
                name.append(contentsOf: field.name.utf8)
            case .custom(let suffix): name.append(contentsOf: suffix(field.name).utf8)
            }
            write(field.value)
            name.removeLast(name.count - length)
        }
    }

    private mutating func write(_ array: FormArray) {
        let length = name.count
        for (index, element) in array.elements.enumerated() {
            switch options.arrayEncoding {
            case .brackets: name.append(contentsOf: "[]".utf8)
            case .noBrackets: break
            case .indexInBrackets: name.append(contentsOf: "[\(index)]".utf8)
            case .custom(let whole):
                let outer = name
                name = Array(whole(String(decoding: outer, as: UTF8.self), index).utf8)
                write(element)
                name = outer
                continue
            }
            write(element)
            name.removeLast(name.count - length)
        }
    }

    private func ordered(_ object: FormObject) -> [(name: String, value: FormNode)] {
        var fields = object.fields.entries
        switch options.keyEncoding {
        case .useDefaultKeys: break
        default: for index in fields.indices { fields[index].name = options.keyEncoding.name(for: fields[index].name) }
        }
        if options.sortsKeys {
            // Compare bytes, because Swift's string order is inconsistent if one string starts with a canonical
            // equivalent of the other.
            fields.sort { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
        }
        return fields
    }

    private mutating func write(_ value: String) {
        if !output.isEmpty { output.append(UInt8(ascii: "&")) }
        escape(name)
        output.append(UInt8(ascii: "="))
        escape(value.utf8)
    }

    private mutating func escape(_ text: some Sequence<UInt8>) {
        for byte in text {
            if options.allowedCharacters.contains(byte) {
                output.append(byte)
            } else if isSpacePlus, byte == UInt8(ascii: " ") {
                output.append(UInt8(ascii: "+"))
            } else {
                PercentEncoding.append(triplet: byte, to: &output)
            }
        }
    }
}
