#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Encodes a value as the names and values of a query or a form body: `application/x-www-form-urlencoded`.
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
/// The value is a structure, a dictionary with string or integer keys, ``Parameters``, or any other type that encodes
/// itself into a keyed container. Empty arrays and objects are omitted, because a form cannot represent them.
///
/// The output is ASCII: UTF-8, percent-encoded (RFC 3986 §2.1). A form parser always recovers the same names and
/// values, whatever characters they contain and whichever options are set.
public struct URLEncodedFormEncoder: Sendable {
    /// The order of an object's fields; sorted by name by default. Arrays keep their order.
    public var keyOrder: KeyOrder
    /// The naming of array elements; `tags[]` by default.
    public var arrayEncoding: ArrayEncoding
    /// The encoding of booleans; `1` and `0` by default.
    public var boolEncoding: BoolEncoding
    /// The encoding of `Data`; Base64 by default.
    public var dataEncoding: DataEncoding
    /// The encoding of `Date`; seconds since 2001 by default.
    public var dateEncoding: DateEncoding
    /// The conversion of keys to names; unchanged by default.
    public var keyEncoding: KeyEncoding
    /// The naming of an object's fields; `range[from]` by default.
    public var keyPathEncoding: KeyPathEncoding
    /// The encoding of nil; omitted by default.
    public var nilEncoding: NilEncoding
    /// The encoding of spaces; `%20` by default.
    public var spaceEncoding: SpaceEncoding
    /// The characters that are not percent-encoded; the unreserved characters of RFC 3986 §2.3 by default.
    public var allowedCharacters: AllowedCharacters
    /// The contents of `Encoder.userInfo`; empty by default.
    public var userInfo: [CodingUserInfoKey: any Sendable] = [:]

    /// Creates an encoder.
    ///
    /// - Parameters:
    ///   - keyOrder: The order of an object's fields.
    ///   - arrayEncoding: The naming of array elements.
    ///   - boolEncoding: The encoding of booleans.
    ///   - dataEncoding: The encoding of `Data`.
    ///   - dateEncoding: The encoding of `Date`.
    ///   - keyEncoding: The conversion of keys to names.
    ///   - keyPathEncoding: The naming of an object's fields.
    ///   - nilEncoding: The encoding of nil.
    ///   - spaceEncoding: The encoding of spaces.
    ///   - allowedCharacters: The characters that are not percent-encoded.
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
    /// - Parameter value: A value that encodes itself into a keyed container; nil gives an empty string.
    /// - Returns: ASCII text without a leading question mark.
    /// - Throws: A ``FormEncodingFailure`` that names the field. It is thrown if the value has no keys, such as an
    ///   array or a number; if a number is not finite; if values are nested deeper than 512 levels; or if the value's
    ///   `encode(to:)` throws.
    public func encode(_ value: some Encodable) throws(FormEncodingFailure) -> String {
        String(decoding: try bytes(of: value), as: UTF8.self)
    }

    /// Encodes a value as the bytes of a form body.
    ///
    /// - Parameter value: A value that encodes itself into a keyed container; nil gives no bytes.
    /// - Returns: ASCII text.
    /// - Throws: A ``FormEncodingFailure`` that names the field, in the same cases as for a string.
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
