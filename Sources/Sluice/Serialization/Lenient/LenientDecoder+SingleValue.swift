extension LenientDecoder: SingleValueDecodingContainer {
    func decodeNil() -> Bool { kind == .null }

    @inline(__always)
    func decode<Value: LenientScalar>(_ type: Value.Type) throws -> Value {
        try scalar(at: node) ?? unread(node, under: nil)
    }

    func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
        try decodeValue(type)
    }
}
