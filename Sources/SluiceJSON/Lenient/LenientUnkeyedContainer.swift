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

    private var key: ElementIndex { ElementIndex(currentIndex) }

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

/// The coding key of an array element.
struct ElementIndex: CodingKey {
    let index: Int

    init(_ index: Int) {
        self.index = index
    }

    init?(intValue: Int) {
        index = intValue
    }

    init?(stringValue: String) {
        nil
    }

    var intValue: Int? { index }
    var stringValue: String { "Index \(index)" }
}
