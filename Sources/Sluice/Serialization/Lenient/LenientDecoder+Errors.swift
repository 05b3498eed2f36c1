extension LenientDecoder {
    /// Returns the error for a value that does not have the type and cannot be converted to it.
    ///
    /// - Parameters:
    ///   - wanted: The requested type.
    ///   - node: The value; nil for this decoder's own value.
    ///   - key: The key of `node`.
    /// - Returns: An error that contains only the kind of the value.
    func mismatch(_ wanted: Any.Type, at node: Node? = nil, under key: (any CodingKey)? = nil) -> DecodingError {
        let kind = input.kind(of: node ?? self.node)
        let context = DecodingError.Context(
            codingPath: codingPath + (key.map { [$0] } ?? []),
            debugDescription: kind == .null
                ? "Expected \(wanted), found null."
                : "Expected \(wanted), found \(kind.noun) that cannot become one without loss."
        )
        return kind == .null ? .valueNotFound(wanted, context) : .typeMismatch(wanted, context)
    }

    func missing(_ key: any CodingKey) -> DecodingError {
        .keyNotFound(
            key,
            DecodingError.Context(codingPath: codingPath, debugDescription: "There is no “\(key.stringValue)”.")
        )
    }

    func corrupted(_ description: String, under key: (any CodingKey)? = nil) -> DecodingError {
        .dataCorrupted(
            DecodingError.Context(codingPath: codingPath + (key.map { [$0] } ?? []), debugDescription: description)
        )
    }
}

extension JSONDocument.Kind {
    fileprivate var noun: String {
        switch self {
        case .null: "null"
        case .true, .false: "a Bool"
        case .number: "a number"
        case .string: "a string"
        case .array: "an array"
        case .object: "an object"
        }
    }
}
