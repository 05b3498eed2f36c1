import SluiceFoundation

/// Decodes models from JSON whose types differ from the declared ones, without losing information.
///
/// The declared type takes precedence over the JSON type if the conversion is lossless: `"12"` is an `Int`, `12` is a
/// `String`, `"yes"` is a `Bool`, and an object encoded in a string is an object. `1.5` is not an `Int`, 300 is not a
/// `UInt8`, and `"abc"` is not a number; such a value fails with a `DecodingError` that contains its coding path.
/// Strictly typed JSON decodes as with `JSONDecoder`, except in types that try several types: they get the first to which the value
/// converts.
///
/// ```swift
/// struct Item: Decodable {
///     var id: Int
///     var price: Double
///     var isNew: Bool
///     var code: String
/// }
///
/// let text = #"{"id": "7", "price": "1.5", "isNew": "yes", "code": 12345678901234567890123}"#
/// let item = try LenientJSONDecoder().decode(Item.self, from: Data(text.utf8))
/// // Item(id: 7, price: 1.5, isNew: true, code: "12345678901234567890123")
/// ```
///
/// For keys that may be missing or null, conform the model to ``DefaultInitializable`` or set ``fillsMissingValues``.
///
/// The text is UTF-8 encoded JSON (RFC 8259), nested at most 512 levels deep. If an object has several members with the
/// same name, the first is used.
public struct LenientJSONDecoder: DataDecoder {
    /// True to convert values to the declared types if no information is lost; true by default. If false, the types must
    /// match, as with `JSONDecoder`.
    ///
    /// - A number is read from a string, with or without surrounding whitespace: `" 1 "`, `"1.0"`, `"1e3"`. It is also
    ///   read from a boolean: `true` is 1 and `false` is 0.
    /// - A string is read from a number, as its literal text, and from a boolean, as `"true"` or `"false"`.
    /// - A boolean is read from 1 and 0, and from `"true"`, `"yes"`, `"1"`, `"false"`, `"no"` and `"0"` in any case.
    /// - An object or array is read from a string that contains its JSON text.
    public var convertsTypes: Bool
    /// True to use neutral values in place of values that are missing or null, are not optional, and have no default;
    /// false, the default, to throw a `DecodingError`.
    ///
    /// The neutral value of a type is `""`, 0, `false`, `[]`, `[:]`, empty `Data`, or ``DefaultInitializable/init()``.
    /// The default of a ``DefaultInitializable`` model for the key comes first. Other types, such as `Date` and `URL`,
    /// have no neutral value and fail.
    public var fillsMissingValues: Bool
    /// The conversion of JSON keys to model keys; unchanged by default.
    public var keyDecodingStrategy: JSONDecoder.KeyDecodingStrategy
    /// The format of dates; seconds since 2001 by default. A number may be in a string.
    public var dateDecodingStrategy: JSONDecoder.DateDecodingStrategy
    /// The format of data; Base64 by default.
    public var dataDecodingStrategy: JSONDecoder.DataDecodingStrategy
    /// The strings that represent infinity and NaN; none by default.
    public var nonConformingFloatDecodingStrategy: JSONDecoder.NonConformingFloatDecodingStrategy
    /// The user info that models can read while decoding; empty by default.
    public var userInfo: [CodingUserInfoKey: any Sendable] = [:]

    /// Creates a decoder.
    ///
    /// - Parameters:
    ///   - convertsTypes: True to convert values to the declared types.
    ///   - fillsMissingValues: True to use neutral values in place of values that are missing or null.
    ///   - keyDecodingStrategy: The conversion of JSON keys to model keys.
    ///   - dateDecodingStrategy: The format of dates.
    ///   - dataDecodingStrategy: The format of data.
    ///   - nonConformingFloatDecodingStrategy: The strings that represent infinity and NaN.
    public init(
        convertsTypes: Bool = true,
        fillsMissingValues: Bool = false,
        keyDecodingStrategy: JSONDecoder.KeyDecodingStrategy = .useDefaultKeys,
        dateDecodingStrategy: JSONDecoder.DateDecodingStrategy = .deferredToDate,
        dataDecodingStrategy: JSONDecoder.DataDecodingStrategy = .base64,
        nonConformingFloatDecodingStrategy: JSONDecoder.NonConformingFloatDecodingStrategy = .throw
    ) {
        self.convertsTypes = convertsTypes
        self.fillsMissingValues = fillsMissingValues
        self.keyDecodingStrategy = keyDecodingStrategy
        self.dateDecodingStrategy = dateDecodingStrategy
        self.dataDecodingStrategy = dataDecodingStrategy
        self.nonConformingFloatDecodingStrategy = nonConformingFloatDecodingStrategy
    }

    /// Decodes a value.
    ///
    /// - Parameters:
    ///   - type: The type to decode.
    ///   - data: A JSON text.
    /// - Returns: The decoded value.
    /// - Throws: A `DecodingError` with the coding path of the value that failed. If the text is not JSON, its
    ///   `underlyingError` is a ``JSONSyntaxError``. Errors that a model throws are passed on unchanged.
    public func decode<Value: Decodable>(_ type: Value.Type, from data: Data) throws -> Value {
        let document: JSONDocument
        do {
            document = try JSONDocument(data)
        } catch {
            throw DecodingError.dataCorrupted(
                DecodingError.Context(codingPath: [], debugDescription: error.description, underlyingError: error)
            )
        }
        let root = LenientDecoder(LenientInput(document, decoder: self))
        return try root.decodeValue(type)
    }
}

/// A model whose properties have default values, which ``LenientJSONDecoder`` uses for keys that are missing or null.
///
/// ```swift
/// struct User: Decodable, DefaultInitializable {
///     var name = "unknown"
///     var tags: [String] = []
///     var address: Address?
/// }
///
/// let user = try LenientJSONDecoder().decode(User.self, from: Data(#"{"tags": null}"#.utf8))
/// // User(name: "unknown", tags: [], address: nil)
/// ```
///
/// The default for a key is the value of its property in a model created by ``init()``. A model is created for each
/// object that lacks a value, so that a default such as `UUID()` differs between objects. The property is the one that
/// the case of the `CodingKeys` names, whatever its raw value, or the one with the name of the key. An optional property
/// is nil.
///
/// Defaults also apply to the keys of nested containers, and of a nested object that is missing or null altogether. They
/// apply only if a container decodes the model, not if its `init(from:)` is called with the decoder of another model.
public protocol DefaultInitializable {
    /// Creates a model with default values only.
    init()
}
