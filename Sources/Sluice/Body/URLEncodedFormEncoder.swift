import SluiceFoundation
import SluiceHTTP

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
/// let text = try URLEncodedFormEncoder().encode(search)
/// // range[from]=1&range[to]=9&tags[]=x&tags[]=y&text=a%20%26%20b, where [ is %5B and ] is %5D
/// ```
///
/// The value is a structure, a dictionary with string or integer keys, ``Parameters``, or any other type that encodes
/// itself into a keyed container. Empty arrays and objects are omitted, because a form cannot represent them.
///
/// The output is ASCII: UTF-8, percent-encoded (RFC 3986 §2.1). A form parser always recovers the same names and
/// values, whatever characters they contain and whichever options are set.
public struct URLEncodedFormEncoder: Sendable {
    /// True to sort an object's fields by name, so that equal values give equal text, which caches and signatures need;
    /// true by default. If false, a structure's properties have their declaration order, and a dictionary's entries a
    /// random order. Arrays keep their order.
    public var sortsKeys: Bool
    /// The naming of array elements; `tags[]` by default.
    public var arrayEncoding: ArrayEncoding
    /// The encoding of booleans; `1` and `0` by default.
    public var boolEncoding: BoolEncoding
    /// The encoding of `Data`; Base64 by default. That of `Data` itself is an array of numbers.
    public var dataEncoding: JSONEncoder.DataEncodingStrategy
    /// The encoding of `Date`; that of `Date` itself, seconds since 2001, by default.
    ///
    /// A whole number of seconds has no fraction: `12`, not `12.0`. Milliseconds are rounded to an integer. ISO 8601
    /// (RFC 3339) is in whole seconds, for the years 1 to 9999: `2001-02-03T04:05:06Z`.
    ///
    /// ```swift
    /// encoder.dateEncoding = .custom { try $0.formatted(.iso8601.year().month().day()).encode(to: $1) }
    /// // day=2001-02-03
    /// ```
    public var dateEncoding: JSONEncoder.DateEncodingStrategy
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
    ///   - sortsKeys: True to sort an object's fields by name.
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
        sortsKeys: Bool = true,
        arrayEncoding: ArrayEncoding = .brackets,
        boolEncoding: BoolEncoding = .numeric,
        dataEncoding: JSONEncoder.DataEncodingStrategy = .base64,
        dateEncoding: JSONEncoder.DateEncodingStrategy = .deferredToDate,
        keyEncoding: KeyEncoding = .useDefaultKeys,
        keyPathEncoding: KeyPathEncoding = .brackets,
        nilEncoding: NilEncoding = .dropKey,
        spaceEncoding: SpaceEncoding = .percentEscaped,
        allowedCharacters: AllowedCharacters = .unreserved
    ) {
        self.sortsKeys = sortsKeys
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
        let root = FormPath()
        let scope = FormScope(options: self)
        let node = try scope.node(of: value, .itself, in: root)
        if let failure = scope.failure { throw failure }
        switch node.resolved {
        case .nothing, .null: return ""
        case .object(let object):
            var writer = FormWriter(options: self)
            writer.writeAll(of: object)
            return String(decoding: writer.output, as: UTF8.self)
        case .text, .array, .slot:
            throw FormEncodingFailure(
                at: root,
                .itself,
                "a form consists of names and values, but \(type(of: value)) has no names; "
                    + "wrap it in a structure or in a dictionary with string keys"
            )
        }
    }
}

// MARK: - Names

extension URLEncodedFormEncoder {
    /// The naming of an array's elements, for the key `a`.
    public enum ArrayEncoding: Sendable {
        /// `a[]=1&a[]=2`
        case brackets
        /// `a=1&a=2`
        case noBrackets
        /// `a[0]=1&a[1]=2`
        case indexInBrackets
        /// Called with the array's name and the element's index from 0. Returns the complete name of the element.
        case custom(@Sendable (_ key: String, _ index: Int) -> String)
    }

    /// The naming of an object's fields, for the field `b` of `a`.
    public enum KeyPathEncoding: Sendable {
        /// `a[b]=1`
        case brackets
        /// `a.b=1`
        case dots
        /// Called with the field's name. Returns the text that is appended to the object's name, such as `[b]` for `b`.
        case custom(@Sendable (_ subkey: String) -> String)
    }

    /// The conversion of keys to names. It applies to the keys of structures, dictionaries and ``Parameters`` at every
    /// depth.
    public enum KeyEncoding: Sendable {
        /// Keys are unchanged.
        case useDefaultKeys
        /// `baseURLPath` as `base_url_path`.
        case convertToSnakeCase
        /// `baseURLPath` as `base-url-path`.
        case convertToKebabCase
        /// Called with a key. Returns the name: `.custom { $0.lowercased() }`.
        case custom(@Sendable (_ key: String) -> String)

        func name(for key: String) -> String {
            switch self {
            case .useDefaultKeys: key
            case .convertToSnakeCase: Self.words(of: key, separator: "_")
            case .convertToKebabCase: Self.words(of: key, separator: "-")
            case .custom(let name): name(key)
            }
        }

        /// Returns the words of a key in lowercase, with a separator between them. A word starts at an uppercase letter
        /// that follows another kind of character, and at the last one of a run if a lowercase letter follows:
        /// `base|URL|Path`.
        private static func words(of key: String, separator: Unicode.Scalar) -> String {
            let scalars = Array(key.unicodeScalars)
            var text = String.UnicodeScalarView()
            for (index, scalar) in scalars.enumerated() {
                guard scalar.properties.isUppercase else {
                    text.append(scalar)
                    continue
                }
                if index > 0, scalars[index - 1] != "_", scalars[index - 1] != "-" {
                    let isRunEnding = index + 1 < scalars.count && scalars[index + 1].properties.isLowercase
                    if !scalars[index - 1].properties.isUppercase || isRunEnding { text.append(separator) }
                }
                text.append(contentsOf: scalar.properties.lowercaseMapping.unicodeScalars)
            }
            return String(text)
        }
    }
}

// MARK: - Values

extension URLEncodedFormEncoder {
    /// The encoding of booleans.
    public enum BoolEncoding: Sendable, Hashable {
        /// `1` and `0`.
        case numeric
        /// `true` and `false`.
        case literal

        func text(of value: Bool) -> String {
            switch self {
            case .numeric: value ? "1" : "0"
            case .literal: value ? "true" : "false"
            }
        }
    }

    /// Returns the text of a date; nil if the format cannot represent it, or has no text.
    func text(of date: Date) -> String? {
        switch dateEncoding {
        case .deferredToDate:
            return Self.text(of: date.timeIntervalSinceReferenceDate)
        case .secondsSince1970:
            return Self.text(of: date.timeIntervalSince1970)
        case .millisecondsSince1970:
            return Self.text(of: (date.timeIntervalSince1970 * 1000).rounded())
        case .iso8601:
            // Outside these years the format style does not write four digits, and far outside it writes a wrong date.
            guard date >= .distantPast, date.timeIntervalSince1970 < 253_402_300_800 else { return nil }
            return Date.ISO8601FormatStyle().format(date)
        #if !canImport(FoundationEssentials)
        case .formatted(let formatter):
            return formatter.string(from: date)
        #endif
        case .custom:
            return nil
        @unknown default:
            return nil
        }
    }

    private static func text(of seconds: Double) -> String? {
        guard seconds.isFinite else { return nil }
        return Int64(exactly: seconds)?.description ?? seconds.description
    }

    /// The encoding of nil, for properties, array elements and dictionary values.
    public enum NilEncoding: Sendable {
        /// The name and the value are omitted.
        case dropKey
        /// `a=`
        case dropValue
        /// `a=null`
        case null

        var text: String? {
            switch self {
            case .dropKey: nil
            case .dropValue: ""
            case .null: "null"
            }
        }
    }

    /// The encoding of spaces.
    public enum SpaceEncoding: Sendable, Hashable {
        /// `%20`, which is valid in queries and in forms.
        case percentEscaped
        /// `+`, as browsers send forms.
        case plusReplaced
    }
}

// MARK: - Characters

extension URLEncodedFormEncoder {
    /// The characters that are not percent-encoded in names and values.
    ///
    /// ```swift
    /// encoder.allowedCharacters = .unreserved.adding("[]:/")
    /// ```
    ///
    /// ASCII letters and digits are always allowed. Control characters, spaces, `&`, `=`, `+`, `%`, `#` and all
    /// non-ASCII characters never are, because they would change how the text is parsed. RFC 3986 §3.4 permits
    /// `!$'()*,;:@/?` in a query; many servers accept `[]` too.
    public struct AllowedCharacters: Sendable, Hashable {
        /// Letters, digits and `-._~` (RFC 3986 §2.3).
        public static let unreserved = AllowedCharacters("-._~")
        /// Letters, digits and `*-._`: the set that browsers leave unescaped in a form (WHATWG URL §5.2).
        public static let htmlForm = AllowedCharacters("*-._")

        private static let neverAllowed: UInt128 = "&=+%#".utf8.reduce(0) { $0 | 1 << UInt128($1) }
        private static let alphanumerics: UInt128 =
            "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789".utf8.reduce(0) { $0 | 1 << UInt128($1) }

        /// One bit for each ASCII character.
        private var bits: UInt128

        /// Creates a set of the letters, the digits and the given characters. Characters that can never be allowed are
        /// ignored.
        public init(_ characters: String) {
            bits = Self.alphanumerics
            for byte in characters.utf8 where byte > 0x20 && byte < 0x7F { bits |= 1 << UInt128(byte) }
            bits &= ~Self.neverAllowed
        }

        /// Returns this set with more characters added. Characters that can never be allowed are ignored.
        public func adding(_ characters: String) -> AllowedCharacters {
            var sum = self
            sum.bits |= AllowedCharacters(characters).bits
            return sum
        }

        func contains(_ byte: UInt8) -> Bool {
            byte < 0x80 && bits >> UInt128(byte) & 1 == 1
        }
    }
}

// MARK: - Failures

/// The error that ``URLEncodedFormEncoder`` throws if a value cannot be encoded as a form. It is the underlying error
/// of ``SluiceError/Code/encodingFailed``.
public struct FormEncodingFailure: LocalizedError, Sendable, CustomStringConvertible, DescribedError {
    /// The coding path of the value that could not be encoded, such as `filter.items[2].price`; empty for the root
    /// value.
    public let codingPath: String
    /// The reason, without the value.
    public let reason: String
    /// The error that the value's `encode(to:)` or a closure of the encoder's options threw.
    public let cause: (any Error)?

    init(at path: FormPath, _ step: FormPath.Step, _ reason: String, cause: (any Error)? = nil) {
        codingPath = path.text(appending: step)
        self.reason = reason
        self.cause = cause
    }

    /// A one-sentence description without any values.
    var sentence: String {
        codingPath.isEmpty
            ? "The form could not be encoded: \(reason)."
            : "The form could not be encoded: at “\(codingPath)”, \(reason)."
    }

    /// The sentence and the cause, if there is one, with text that looks like a secret redacted.
    public var description: String {
        cause.map { "\(sentence) Cause: \(SecretRules.usual.text(SecretRules.text(of: $0)))" } ?? sentence
    }
}

// The description only, because a cause may contain values.
extension FormEncodingFailure: CustomReflectable, RedactedMirror {}
