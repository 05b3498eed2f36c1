#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Encodes a value as names and values for a query or a form body: `application/x-www-form-urlencoded`.
///
/// ```swift
/// struct Search: Encodable {
///     var text: String
///     var tags: [String]
///     var range: Range
///     struct Range: Encodable { var from: Int, to: Int }
/// }
///
/// let search = Search(text: "a & b", tags: ["x", "y"], range: .init(from: 1, to: 9))
/// let text: String = try URLEncodedFormEncoder().encode(search)
/// // range[from]=1&range[to]=9&tags[]=x&tags[]=y&text=a%20%26%20b, where [ is %5B and ] is %5D
/// ```
///
/// The value is a structure, a dictionary whose keys are text or integers, ``Parameters``, or whatever else encodes
/// itself under keys. Arrays and objects without anything in them leave no trace, since a form has no word for them.
///
/// The text is ASCII: UTF-8, percent-encoded (RFC 3986 §2.1). Read as a form it always gives back the same names and
/// values, whatever characters they hold and the options are.
public struct URLEncodedFormEncoder: Sendable {
    /// The order of an object's fields; sorted by name by default. Arrays keep theirs.
    public var keyOrder: KeyOrder
    /// How an array's elements are named; `tags[]` by default.
    public var arrayEncoding: ArrayEncoding
    /// How booleans are written; `1` and `0` by default.
    public var boolEncoding: BoolEncoding
    /// How `Data` is written; as Base64 by default.
    public var dataEncoding: DataEncoding
    /// How `Date` is written; as the seconds since 2001 by default.
    public var dateEncoding: DateEncoding
    /// How keys become names; as they are by default.
    public var keyEncoding: KeyEncoding
    /// How an object's fields are named; `range[from]` by default.
    public var keyPathEncoding: KeyPathEncoding
    /// What becomes of nil; it is left out by default.
    public var nilEncoding: NilEncoding
    /// How a space is written; as `%20` by default.
    public var spaceEncoding: SpaceEncoding
    /// Which characters are written as they are; the unreserved ones by default (RFC 3986 §2.3).
    public var allowedCharacters: AllowedCharacters
    /// What values find in `Encoder.userInfo`; nothing by default.
    public var userInfo: [CodingUserInfoKey: any Sendable] = [:]

    /// Makes an encoder.
    ///
    /// - Parameters:
    ///   - keyOrder: The order of an object's fields.
    ///   - arrayEncoding: How an array's elements are named.
    ///   - boolEncoding: How booleans are written.
    ///   - dataEncoding: How `Data` is written.
    ///   - dateEncoding: How `Date` is written.
    ///   - keyEncoding: How keys become names.
    ///   - keyPathEncoding: How an object's fields are named.
    ///   - nilEncoding: What becomes of nil.
    ///   - spaceEncoding: How a space is written.
    ///   - allowedCharacters: Which characters are written as they are.
    public init(
        keyOrder: KeyOrder = .sorted,
        arrayEncoding: ArrayEncoding = .brackets,
        boolEncoding: BoolEncoding = .numeric,
        dataEncoding: DataEncoding = .base64,
        dateEncoding: DateEncoding = .deferredToDate,
        keyEncoding: KeyEncoding = .useDefaultKeys,
        keyPathEncoding: KeyPathEncoding = .brackets,
        nilEncoding: NilEncoding = .dropKey,
        spaceEncoding: SpaceEncoding = .percentEscaped,
        allowedCharacters: AllowedCharacters = .unreserved
    ) {
        self.keyOrder = keyOrder
        self.arrayEncoding = arrayEncoding
        self.boolEncoding = boolEncoding
        self.dataEncoding = dataEncoding
        self.dateEncoding = dateEncoding
        self.keyEncoding = keyEncoding
        self.keyPathEncoding = keyPathEncoding
        self.nilEncoding = nilEncoding
        self.spaceEncoding = spaceEncoding
        self.allowedCharacters = allowedCharacters
    }

    /// Encodes a value as text.
    ///
    /// - Parameter value: What has names for its values; nil gives empty text.
    /// - Returns: ASCII text, without a question mark.
    /// - Throws: A ``FormEncodingFailure`` that names the field: the value has no names, like an array or a number; a
    ///   number is not finite; values are nested deeper than 512 levels; or a value's own encoding throws.
    public func encode(_ value: some Encodable) throws(FormEncodingFailure) -> String {
        String(decoding: try bytes(of: value), as: UTF8.self)
    }

    /// Encodes a value as the bytes of a form body.
    ///
    /// - Parameter value: What has names for its values; nil gives no bytes.
    /// - Returns: ASCII text.
    /// - Throws: A ``FormEncodingFailure`` that names the field, as for text.
    @_disfavoredOverload
    public func encode(_ value: some Encodable) throws(FormEncodingFailure) -> Data {
        Data(try bytes(of: value))
    }

    private func bytes(of value: some Encodable) throws(FormEncodingFailure) -> [UInt8] {
        let root = FormPath()
        let scope = FormScope(options: self)
        let node = try scope.node(of: value, .itself, in: root)
        if let failure = scope.failure { throw failure }
        switch node.resolved {
        case .nothing, .null: return []
        case .object(let object):
            var writer = FormWriter(options: self)
            writer.writeAll(of: object)
            return writer.output
        case .text, .array, .slot:
            throw FormEncodingFailure(
                at: root,
                .itself,
                "a form is made of names and values, and \(type(of: value)) has values only; "
                    + "put it in a structure or a dictionary whose keys are text"
            )
        }
    }
}
