import SluiceFoundation

extension LenientDecoder {
    /// Reads a scalar from a value; nil if the conversion would lose information.
    @inline(__always)
    func scalar<Value: LenientScalar>(at node: Node) -> Value? {
        Value.read(node, of: input)
    }

    /// Returns the neutral value if the node is null and neutral values are allowed. Otherwise throws the error for a
    /// value that cannot be read as the scalar type.
    @inline(never)
    func neutralValue<Value: LenientScalar>(ofNull node: Node, under key: (any CodingKey)?) throws -> Value {
        guard input.kind(of: node) == .null, let value = neutralValue(of: Value.self) else {
            throw mismatch(Value.self, at: node, under: key)
        }
        return value
    }

    /// Decodes a value inside this decoder's value.
    func decode<Value: Decodable>(_ type: Value.Type, at node: Node, under key: any CodingKey) throws -> Value {
        // The elements of arrays arrive here, most of which have one of these types. A comparison is much faster than a cast to the
        // protocol, and the types are equal, so that the bits are those of the value.
        if type == String.self { return unsafeBitCast(try common(String.self, at: node, under: key), to: type) }
        if type == Int.self { return unsafeBitCast(try common(Int.self, at: node, under: key), to: type) }
        if type == Double.self { return unsafeBitCast(try common(Double.self, at: node, under: key), to: type) }
        if type == Bool.self { return unsafeBitCast(try common(Bool.self, at: node, under: key), to: type) }
        if let scalar = scalarType(type, at: node) { return try read(scalar, as: type, at: node, under: key) }
        if type == [String].self, let values: [String] = scalars(of: node) { return unsafeBitCast(values, to: type) }
        if type == [Int].self, let values: [Int] = scalars(of: node) { return unsafeBitCast(values, to: type) }
        if type == [Double].self, let values: [Double] = scalars(of: node) { return unsafeBitCast(values, to: type) }
        return try child(at: node, under: key, type: type).decodeOwnValue(type)
    }

    /// Reads an array of scalars without a decoder; nil if the value is no array or an element cannot be read.
    private func scalars<Value: LenientScalar>(of node: Node) -> [Value]? {
        guard input.kind(of: node) == .array else { return nil }
        let count = input.document.count(of: node)
        var values: [Value] = []
        values.reserveCapacity(count)
        var next = input.document.firstChild(of: node)
        for _ in 0..<count {
            guard let value: Value = scalar(at: next) else { return nil }
            values.append(value)
            next = input.document.sibling(of: next)
        }
        return values
    }

    @inline(__always)
    private func common<Value: LenientScalar>(_ type: Value.Type, at node: Node, under key: any CodingKey) throws
        -> Value
    {
        try scalar(at: node) ?? neutralValue(ofNull: node, under: key)
    }

    /// Decodes another type from this decoder's own value.
    func decodeValue<Value: Decodable>(_ type: Value.Type) throws -> Value {
        if let scalar = scalarType(type, at: node) { return try read(scalar, as: type, at: node, under: nil) }
        let sibling = LenientDecoder(input, node: node, parent: parent, key: key, type: type, depth: depth)
        return try sibling.decodeOwnValue(type)
    }

    /// Returns the type as a scalar type that can be read without a decoder; nil if it is none or the value is a
    /// container.
    @inline(__always)
    private func scalarType(_ type: any Decodable.Type, at node: Node) -> (any LenientScalar.Type)? {
        // Most models are objects and arrays, which are never scalars.
        let kind = input.kind(of: node)
        guard kind != .object, kind != .array else { return nil }
        return type as? any LenientScalar.Type
    }

    /// Reads a scalar whose type is known only at run time.
    @inline(never)
    private func read<Value>(
        _ scalar: any LenientScalar.Type,
        as type: Value.Type,
        at node: Node,
        under key: (any CodingKey)?
    ) throws -> Value {
        if let value = scalar.read(node, of: input) as? Value { return value }
        guard input.kind(of: node) == .null, let value = neutralValue(of: type) else {
            throw mismatch(type, at: node, under: key)
        }
        return value
    }

    /// Decodes the type that this decoder was created for. Null is replaced with a neutral value if allowed.
    func decodeOwnValue<Value: Decodable>(_ type: Value.Type) throws -> Value {
        guard kind == .null else { return try decodeByType(type) }
        do {
            return try decodeByType(type)
        } catch {
            return try neutralValue(of: type, insteadOf: error)
        }
    }

    @inline(never)
    private func neutralValue<Value>(of type: Value.Type, insteadOf error: any Error) throws -> Value {
        guard let value = neutralValue(of: type) else { throw error }
        return value
    }

    /// Decodes a type with its own initializer, except for types that JSON decoders handle specially.
    private func decodeByType<Value: Decodable>(_ type: Value.Type) throws -> Value {
        if type == Date.self { return try cast(decodeDate(), to: type) }
        if type == Data.self { return try cast(decodeData(), to: type) }
        if type == URL.self { return try cast(decodeURL(), to: type) }
        // Other scalar types ask for a single value, which fails. `Decimal` asks for members.
        if type == Decimal.self { throw mismatch(type) }
        return try type.init(from: self)
    }

    @inline(never)
    private func cast<Value>(_ value: some Any, to type: Value.Type) throws -> Value {
        guard let value = value as? Value else { throw mismatch(type) }
        return value
    }

    private func read<Value: LenientScalar>(_ type: Value.Type = Value.self, for expected: Any.Type) throws -> Value {
        guard let value = Value.read(node, of: input) else { throw mismatch(expected) }
        return value
    }

    private func decodeDate() throws -> Date {
        if input.mirrorsJSONDecoder, kind == .null { throw mismatch(Date.self) }
        let strategy = input.decoder.dateDecodingStrategy
        switch strategy {
        case .deferredToDate, .secondsSince1970, .millisecondsSince1970:
            // A Boolean is a number to other types.
            if kind == .true || kind == .false { throw mismatch(Date.self) }
        default: break
        }
        switch strategy {
        case .deferredToDate:
            return Date(timeIntervalSinceReferenceDate: try read(for: Date.self))
        case .secondsSince1970:
            return Date(timeIntervalSince1970: try read(for: Date.self))
        case .millisecondsSince1970:
            return Date(timeIntervalSince1970: try read(Double.self, for: Date.self) / 1000)
        case .iso8601:
            guard kind == .string else { throw mismatch(Date.self) }
            let date = input.withTrimmedString(of: node) { text in
                if text.count + 2 != input.document.withBytes(of: node, \.count) { input.doubt() }
                return try? Date(String(decoding: text, as: UTF8.self), strategy: .iso8601)
            }
            guard let date else { throw corrupted("Expected a date and time in ISO 8601 format.") }
            return date
        case .custom(let decode):
            return try decode(self)
        #if !canImport(FoundationEssentials)
        case .formatted(let formatter):
            guard kind == .string else { throw mismatch(Date.self) }
            guard let date = formatter.date(from: input.document.string(of: node)) else {
                throw corrupted("Expected a date in the formatter's format.")
            }
            return date
        #endif
        @unknown default:
            return try Date(from: self)
        }
    }

    private func decodeData() throws -> Data {
        if input.mirrorsJSONDecoder, kind == .null { throw mismatch(Data.self) }
        switch input.decoder.dataDecodingStrategy {
        case .deferredToData:
            return try Data(from: self)
        case .base64:
            guard kind == .string else { throw mismatch(Data.self) }
            guard let data = Data(base64Encoded: input.document.string(of: node)) else {
                throw corrupted("Expected Base64.")
            }
            return data
        case .custom(let decode):
            return try decode(self)
        @unknown default:
            return try Data(from: self)
        }
    }

    private func decodeURL() throws -> URL {
        guard kind == .string else { throw mismatch(URL.self) }
        guard let url = URL(string: input.document.string(of: node)) else { throw corrupted("Expected a URL.") }
        return url
    }
}

// MARK: - Missing values

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
        if let type = type as? any OptionalValue.Type, let value = type.nilValue as? Value {
            if member(key.stringValue) == nil { input.doubt() }
            return value
        }
        if let value: Value = defaultValue(for: key) { return value }
        guard let node = member(key.stringValue) else {
            guard let value = neutralValue(of: type) else { throw missing(key) }
            return value
        }
        return try decode(type, at: node, under: key)
    }

    /// Returns the neutral value of a type; nil if it has none or ``LenientJSONDecoder/fillsMissingValues`` is false.
    func neutralValue<Value>(of type: Value.Type) -> Value? {
        guard input.decoder.fillsMissingValues else { return nil }
        switch type {
        case let type as any LenientScalar.Type: return type.init() as? Value
        case let type as any LenientCollection.Type: return type.init() as? Value
        case let type as any DefaultInitializable.Type: return type.init() as? Value
        default: return nil
        }
    }

    /// Returns the default value of a ``DefaultInitializable`` model for a key.
    private func defaultValue<Value>(for key: any CodingKey) -> Value? {
        guard let model = modelOfDefaults, let type = model.type as? any DefaultInitializable.Type else { return nil }
        let defaults = model.defaults ?? PropertyDefaults(of: type.init())
        model.defaults = defaults
        // The case of a coding key has the name of its property, whatever the key's name in JSON.
        for name in [key.caseName, key.stringValue] {
            guard let name else { continue }
            if let value = defaults.value(of: name, cache: input.cache) as? Value { return value }
            // The stored property of a property wrapper.
            if let value = defaults.value(of: "_" + name, cache: input.cache) as? Value { return value }
        }
        return nil
    }
}

extension CodingKey {
    /// The name of the key's case; nil for a key that is no enum, or if the program contains no reflection metadata.
    fileprivate var caseName: String? { enumCaseName(self).map { String(cString: $0) } }
}

/// The runtime's function for the name of an enum's case. Printing does not give it, because coding keys have their own
/// description.
@_silgen_name("swift_EnumCaseName")
private func enumCaseName<Value>(_ value: Value) -> UnsafePointer<CChar>?

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
///
/// A class, because few decoders have one.
final class PropertyDefaults {
    private let type: ObjectIdentifier
    private let mirror: Mirror

    init(of model: some DefaultInitializable) {
        type = ObjectIdentifier(Swift.type(of: model))
        mirror = Mirror(reflecting: model)
    }

    /// Returns the value of a property, including those of superclasses.
    func value(of name: String, cache: LenientInput) -> Any? {
        let children = mirror.children
        // Access to a child of a mirror is slow, so the offset is cached for other models of the same type.
        if let offset = cache.properties[type]?[name],
            let index = children.index(children.startIndex, offsetBy: offset, limitedBy: children.endIndex),
            index < children.endIndex
        {
            let child = children[index]
            if child.label == name { return child.value }
        }
        for (offset, child) in children.enumerated() where child.label == name {
            cache.properties[type, default: [:]][name] = offset
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
