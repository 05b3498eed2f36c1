#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension LenientDecoder {
    /// Returns the replacement for a scalar that is missing or null.
    @inline(never)
    func replacement<Value: LenientScalar>(for key: any CodingKey) throws -> Value {
        if let value: Value = defaultValue(for: key) { return value }
        if let value = neutralValue(of: Value.self) { return value }
        guard let node = member(key.stringValue) else { throw missing(key) }
        throw mismatch(Value.self, at: node, under: key)
    }

    /// Returns the replacement for a value that is missing or null, or decodes the type from null.
    func replacement<Value: Decodable>(_ type: Value.Type, for key: any CodingKey) throws -> Value {
        if let type = type as? any OptionalValue.Type, let value = type.absent as? Value { return value }
        if let value: Value = defaultValue(for: key) { return value }
        guard let node = member(key.stringValue) else {
            guard let value = neutralValue(of: type) else { throw missing(key) }
            return value
        }
        return try decode(type, at: node, under: key)
    }

    /// Returns the neutral value of a type; nil if it has none or ``LenientJSONDecoder/missingValues`` is `fail`.
    func neutralValue<Value>(of type: Value.Type) -> Value? {
        guard input.decoder.missingValues == .neutral else { return nil }
        switch type {
        case let type as any LenientScalar.Type: return type.init() as? Value
        case let type as any LenientCollection.Type: return type.init() as? Value
        case let type as any DefaultInitializable.Type: return type.init() as? Value
        default: return nil
        }
    }

    /// Returns the default value of a ``DefaultInitializable`` model for a key.
    private func defaultValue<Value>(for key: any CodingKey) -> Value? {
        guard let type = type as? any DefaultInitializable.Type else { return nil }
        if defaults == nil { defaults = PropertyDefaults(of: type.init()) }
        return defaults?.value(of: key.stringValue, memory: input.memory) as? Value
            // The stored property of a property wrapper.
            ?? defaults?.value(of: "_" + key.stringValue, memory: input.memory) as? Value
    }
}

private protocol OptionalValue {
    static var absent: Self { get }
}

extension Optional: OptionalValue {
    static var absent: Self { nil }
}

/// A collection whose neutral value is empty.
private protocol LenientCollection {
    init()
}

extension Array: LenientCollection {}
extension ContiguousArray: LenientCollection {}
extension Dictionary: LenientCollection {}
extension Set: LenientCollection {}
extension Data: LenientCollection {}

/// The properties of a model with default values.
struct PropertyDefaults {
    private let type: ObjectIdentifier
    private let mirror: Mirror

    init(of model: some DefaultInitializable) {
        type = ObjectIdentifier(Swift.type(of: model))
        mirror = Mirror(reflecting: model)
    }

    /// Returns the value of a property, including those of superclasses.
    func value(of name: String, memory: LenientInput.Memory) -> Any? {
        let children = mirror.children
        // Access to a child of a mirror is slow, so the offset is cached for other models of the same type.
        if let offset = memory.properties[type]?[name],
            let index = children.index(children.startIndex, offsetBy: offset, limitedBy: children.endIndex),
            index < children.endIndex
        {
            let child = children[index]
            if child.label == name { return child.value }
        }
        for (offset, child) in children.enumerated() where child.label == name {
            memory.properties[type, default: [:]][name] = offset
            return child.value
        }
        var ancestor = mirror.superclassMirror
        while let mirror = ancestor {
            if let child = mirror.children.first(where: { $0.label == name }) { return child.value }
            ancestor = mirror.superclassMirror
        }
        return nil
    }
}
