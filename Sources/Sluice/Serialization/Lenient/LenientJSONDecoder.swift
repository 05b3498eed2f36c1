#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Decodes models from JSON whose types are not quite the declared ones, without losing anything.
///
/// What a model declares wins over what JSON says, as long as the value survives: `"12"` is an `Int`, `12` is a `String`,
/// `"yes"` is a `Bool`, and an object that was put into a string is an object again. `1.5` is no `Int`, 300 no `UInt8`
/// and `"abc"` no number; such a value fails with a `DecodingError` that has its coding path. Strictly typed JSON decodes
/// as `JSONDecoder` decodes it.
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
/// For keys that may be missing or null let the model conform to ``DefaultInitializable``, or set ``missingValues``.
///
/// The text is JSON as RFC 8259 has it, in UTF-8, nested 512 deep at most. Of members with the same name the first counts.
public struct LenientJSONDecoder: Sendable {
    /// The conversions that JSON's types may go through.
    public struct Conversions: OptionSet, Sendable, Hashable {
        /// One bit for each conversion.
        public let rawValue: UInt8

        /// Makes a set of the bits.
        public init(rawValue: UInt8) {
            self.rawValue = rawValue
        }

        /// A string that holds a number, with white space around it or not, is that number: `" 1 "`, `"1.0"`, `"1e3"`.
        public static let numbersFromStrings = Conversions(rawValue: 1 << 0)
        /// A number is a string with its literal text, a Bool is `"true"` or `"false"`.
        public static let stringsFromNumbers = Conversions(rawValue: 1 << 1)
        /// 1 and 0, and `"true"`, `"yes"`, `"1"`, `"false"`, `"no"` and `"0"` in any case are Bools.
        public static let boolsFromNumbersAndStrings = Conversions(rawValue: 1 << 2)
        /// `true` is 1 and `false` is 0.
        public static let numbersFromBools = Conversions(rawValue: 1 << 3)
        /// A string that holds the JSON text of an object or array is that object or array.
        public static let jsonInStrings = Conversions(rawValue: 1 << 4)

        /// Every conversion.
        public static let all: Conversions = [
            .numbersFromStrings, .stringsFromNumbers, .boolsFromNumbersAndStrings, .numbersFromBools, .jsonInStrings,
        ]
    }

    /// What becomes of a value that is missing or null, has no default, and is not optional.
    public enum MissingValues: Sendable, Hashable {
        /// It is a `DecodingError`.
        case fail
        /// It is its type's neutral value: `""`, 0, `false`, `[]`, `[:]`, empty `Data`, or ``DefaultInitializable/init()``.
        ///
        /// Other types, such as `Date` and `URL`, have none and fail.
        case neutral
    }

    /// The conversions that are allowed; all at first.
    public var conversions: Conversions
    /// What becomes of values that are missing or null; ``MissingValues/fail`` at first.
    public var missingValues: MissingValues
    /// How JSON's keys become those of the models; as they are at first.
    public var keyDecodingStrategy: JSONDecoder.KeyDecodingStrategy
    /// How dates are written; as seconds since 2001 at first. A number may stand in a string.
    public var dateDecodingStrategy: JSONDecoder.DateDecodingStrategy
    /// How data are written; in Base64 at first.
    public var dataDecodingStrategy: JSONDecoder.DataDecodingStrategy
    /// How infinity and NaN are written; not at all at first.
    public var nonConformingFloatDecodingStrategy: JSONDecoder.NonConformingFloatDecodingStrategy
    /// What the models can read of the decoder while they decode themselves; nothing at first.
    public var userInfo: [CodingUserInfoKey: any Sendable] = [:]

    /// Makes a decoder.
    ///
    /// - Parameters:
    ///   - conversions: The conversions that are allowed.
    ///   - missingValues: What becomes of values that are missing or null.
    ///   - keyDecodingStrategy: How JSON's keys become those of the models.
    ///   - dateDecodingStrategy: How dates are written.
    ///   - dataDecodingStrategy: How data are written.
    ///   - nonConformingFloatDecodingStrategy: How infinity and NaN are written.
    public init(
        conversions: Conversions = .all,
        missingValues: MissingValues = .fail,
        keyDecodingStrategy: JSONDecoder.KeyDecodingStrategy = .useDefaultKeys,
        dateDecodingStrategy: JSONDecoder.DateDecodingStrategy = .deferredToDate,
        dataDecodingStrategy: JSONDecoder.DataDecodingStrategy = .base64,
        nonConformingFloatDecodingStrategy: JSONDecoder.NonConformingFloatDecodingStrategy = .throw
    ) {
        self.conversions = conversions
        self.missingValues = missingValues
        self.keyDecodingStrategy = keyDecodingStrategy
        self.dateDecodingStrategy = dateDecodingStrategy
        self.dataDecodingStrategy = dataDecodingStrategy
        self.nonConformingFloatDecodingStrategy = nonConformingFloatDecodingStrategy
    }

    /// Decodes a value.
    ///
    /// - Parameters:
    ///   - type: The value's type.
    ///   - data: A JSON text.
    /// - Returns: The value.
    /// - Throws: A `DecodingError` with the coding path of what could not be decoded; if the text is not JSON at all, its
    ///   `underlyingError` is a ``JSONSyntaxError``. What a model throws of its own comes as it is.
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
