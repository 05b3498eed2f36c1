import SluiceFoundation
import SluiceHTTP

/// The encoding of values as bytes, together with their type.
///
/// The bytes begin with the format number, the encoding, and the length and name of the type. Decoding validates all of
/// them, because a file may contain anything.
struct ValueCoding {
    private enum Encoding: UInt8 {
        case json = 0
        case bytes = 1
        case null = 2
    }

    private static let format: UInt8 = 1
    private static let headLength = 4

    private static let encoder: JSONEncoder = {
        let encoder = JSONEncoder()
        encoder.nonConformingFloatEncodingStrategy = .convertToString(
            positiveInfinity: "inf",
            negativeInfinity: "-inf",
            nan: "nan"
        )
        return encoder
    }()

    private static let decoder: JSONDecoder = {
        let decoder = JSONDecoder()
        decoder.nonConformingFloatDecodingStrategy = .convertFromString(
            positiveInfinity: "inf",
            negativeInfinity: "-inf",
            nan: "nan"
        )
        return decoder
    }()

    /// The name under which the value is stored, for error messages.
    let name: String

    /// Encodes a value.
    ///
    /// - Throws: ``SluiceError/Code/encodingFailed``.
    func encode<Value: Encodable>(_ value: Value) throws(SluiceError) -> Data {
        let type = Self.typeName(Value.self)
        guard type.utf8.count <= UInt16.max else {
            throw SluiceError(
                .encodingFailed,
                "The value for “\(name)” cannot be stored: the name of its type is longer than 65,535 bytes.",
                step: .cache
            )
        }
        if let optional = value as? any OptionalValue, optional.isNil { return body(.null, type, Data()) }
        if let data = value as? Data { return body(.bytes, type, data) }
        if let json = value as? JSON { return body(.json, type, json.encoded()) }
        do {
            return body(.json, type, try Self.encoder.encode(value))
        } catch {
            throw encodingFailure(error, Value.self)
        }
    }

    /// Returns a body with its head, in a buffer without room for more.
    private func body(_ encoding: Encoding, _ type: String, _ payload: Data) -> Data {
        let length = type.utf8.count
        var body = Data(capacity: Self.headLength + length + payload.count)
        body.append(contentsOf: [Self.format, encoding.rawValue, UInt8(length & 0xFF), UInt8(length >> 8 & 0xFF)])
        body.append(contentsOf: type.utf8)
        body.append(payload)
        return body
    }

    /// Decodes a value.
    ///
    /// - Returns: The value; nil if nil was stored and the type is not optional.
    /// - Throws: ``SluiceError/Code/decodingFailed`` if the value has another type or cannot be decoded.
    func decode<Value: Decodable>(_ type: Value.Type, from body: Data) throws(SluiceError) -> Value? {
        guard let (encoding, storedType) = Self.parseHead(body) else {
            throw decodingFailure(type, "the stored entry is not a value")
        }
        guard storedType == Self.typeName(type) else {
            throw decodingFailure(type, "the stored value is of type \(Self.legible(storedType))")
        }
        let payload = body.dropFirst(Self.headLength + storedType.utf8.count)
        do {
            switch encoding {
            case .null:
                // The nil of an optional type is `.some(nil)`, which differs from the absence of a value.
                guard let type = type as? any OptionalValue.Type else { return nil }
                return type.nilValue as? Value
            case .bytes:
                // Copied, so that its indices begin at 0.
                guard let data = Data(payload) as? Value else {
                    throw decodingFailure(type, "the stored value is raw bytes")
                }
                return data
            case .json:
                if let json = try (type == JSON.self || type == JSON?.self) ? JSON(parsing: payload) as? Value : nil {
                    return json
                }
                return try Self.decoder.decode(type, from: payload)
            }
        } catch let error as SluiceError {
            throw error
        } catch {
            let failure = DecodingFailure(type, body: Data(payload), cause: error)
            throw decodingFailure(type, failure.problem, failure)
        }
    }

    /// Returns the encoding and the name of the type; nil if the bytes are not those of a value.
    private static func parseHead(_ body: Data) -> (Encoding, type: String)? {
        body.withUnsafeBytes { bytes in
            guard bytes.count >= headLength, bytes[0] == format, let encoding = Encoding(rawValue: bytes[1]) else {
                return nil
            }
            let end = headLength + Int(bytes[2]) + Int(bytes[3]) << 8
            guard bytes.count >= end else { return nil }
            return (encoding, String(decoding: bytes[headLength..<end], as: UTF8.self))
        }
    }

    func decodingFailure(_ type: Any.Type, _ reason: String, _ cause: (any Error)? = nil) -> SluiceError {
        let reason = "The value for “\(name)” could not be decoded as \(Self.legible(Self.typeName(type))): \(reason)."
        return SluiceError(.decodingFailed, reason, step: .cache, underlyingError: cause)
    }

    private func encodingFailure(_ error: any Error, _ type: Any.Type) -> SluiceError {
        var details = ""
        if case EncodingError.invalidValue(let value, let context) = error {
            let path = context.codingPath.isEmpty ? "" : " at “\(context.codingPath.text)”,"
            details = ":\(path) the encoder rejected a value of type \(Swift.type(of: value))"
        }
        let reason = "The \(type) for “\(name)” could not be encoded\(details)."
        return SluiceError(.encodingFailed, reason, step: .cache, underlyingError: error)
    }

    /// The names of the types that were used, because the runtime takes a microsecond to write one.
    private static let typeNames = Locked<[ObjectIdentifier: String]>([:])

    /// Returns the name of a type, without optionals; it is the same in every process.
    static func typeName(_ type: Any.Type) -> String {
        if let name = typeNames.withLock({ $0[ObjectIdentifier(type)] }) { return name }
        let name = newTypeName(type)
        typeNames.withLock { $0[ObjectIdentifier(type)] = name }
        return name
    }

    private static func newTypeName(_ type: Any.Type) -> String {
        var type = type
        while let optional = type as? any OptionalValue.Type { type = optional.wrappedType }
        let name = String(reflecting: type)
        // The context of a private type is given by its address, which differs between processes.
        let marker = "(unknown context at $"
        guard name.utf8.contains(UInt8(ascii: "$")) else { return name }
        var stable = ""
        var rest = Substring(name)
        while let start = rest.firstRange(of: marker) {
            stable += rest[..<start.lowerBound]
            rest = rest[start.upperBound...].drop { $0 != ")" }.dropFirst()
            if rest.first == "." { rest = rest.dropFirst() }
        }
        return stable + rest
    }

    /// Returns the name of a type without the `Swift` module.
    private static func legible(_ name: String) -> String {
        name.hasPrefix("Swift.") && !name.contains("<") ? String(name.dropFirst("Swift.".count)) : name
    }
}
