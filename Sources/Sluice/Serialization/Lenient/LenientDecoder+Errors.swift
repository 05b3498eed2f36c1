extension LenientDecoder {
    /// The error of a value that is not the type's and cannot become it.
    ///
    /// - Parameters:
    ///   - wanted: The type.
    ///   - node: The value, if it is not this decoder's own.
    ///   - key: The key of such a value.
    /// - Returns: An error that shows nothing of the value but its kind.
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
