/// An attribute of a span, an event, a point or the resource.
struct Attribute: Equatable, Hashable, Sendable {
    enum Value: Equatable, Hashable, Sendable {
        case string(String)
        case int(Int)
        case double(Double)
        case bool(Bool)
    }

    let key: String
    let value: Value

    init(_ key: String, _ value: Value) {
        self.key = key
        self.value = value
    }

    init(_ key: String, _ text: String) {
        self.init(key, .string(text))
    }

    init(_ key: String, _ integer: Int) {
        self.init(key, .int(integer))
    }

    /// The message `KeyValue`, with texts of at most this many Unicode scalars.
    func message(limit: Int?) -> ProtobufMessage {
        let value = ProtobufMessage {
            switch self.value {
            case .string(let text): $0.add(1, "stringValue", .string(text.truncated(to: limit)))
            case .bool(let flag): $0.add(2, "boolValue", .bool(flag))
            case .int(let integer): $0.add(3, "intValue", .int64(Int64(integer)))
            case .double(let double): $0.add(4, "doubleValue", .double(double))
            }
        }
        return ProtobufMessage {
            $0.add(1, "key", .string(key))
            $0.add(2, "value", .message(value))
        }
    }
}

extension [Attribute] {
    func messages(limit: Int?) -> ProtobufValue { .messages(map { $0.message(limit: limit) }) }
}

extension String {
    fileprivate func truncated(to limit: Int?) -> String {
        // Most texts are shorter in bytes, which need not be counted one by one.
        guard let limit, utf8.count > limit else { return self }
        return String(String.UnicodeScalarView(unicodeScalars.prefix(Swift.max(0, limit))))
    }
}
