import SluiceFoundation
import SluiceHTTP

/// The reason a body could not be decoded: the underlying error of ``SluiceError/Code/decodingFailed``.
public struct DecodingFailure: LocalizedError, Sendable, CustomStringConvertible, DescribedError {
    /// The model's type.
    public let type: String
    /// The coding path in the body, such as `items[0].id`; empty for the body itself.
    public internal(set) var codingPath: String
    /// The problem at that path.
    public private(set) var reason: String
    /// At most the first 200 bytes of the body. Values whose names indicate a secret are replaced with `REDACTED`. If
    /// secrets cannot be identified, a note in parentheses instead of the bytes. The whole body is searched for secrets each time that
    /// the property is read.
    public var bodyPrefix: String { body.map(Self.beginning) ?? "(\(DocumentRedactor.Reason.possiblySecret.rawValue))" }
    /// The error of the decoder.
    public let cause: any Error
    /// The body; nil if it is a part of one, and may be a secret.
    private var body: Data?
    /// The kind of request that returns the body itself as this type, `string` or `data`; nil for other types.
    fileprivate let plainKind: String?

    /// The number of bytes of the body that the failure keeps.
    var bodySize: Int { body?.count ?? 0 }

    /// The failure without the bytes of the body.
    var withoutBody: DecodingFailure {
        var failure = self
        failure.body = nil
        return failure
    }

    init(_ type: Any.Type, body: Data, cause: any Error) {
        let reason = DecodingReason(cause, type, body: body)
        self.init(type, body: body, path: reason.path.text, reason: reason.text, cause: cause)
    }

    /// Returns the beginning of a body with secrets redacted.
    static func beginning(of body: Data) -> String {
        // The name of a secret may follow its value, so the whole body is redacted if its form is known.
        switch Redaction.standard.body(body, contentType: nil) {
        case .text(let text): return String(decoding: prefix(of: Data(text.utf8)), as: UTF8.self)
        case .withheld(let reason): return "(\(reason))"
        case .binary: break
        }
        let beginning = prefix(of: body)
        return switch Redaction.standard.body(beginning, contentType: nil) {
        case .text(let text): text
        case .binary: String(decoding: beginning, as: UTF8.self)
        case .withheld(let reason): "(\(reason))"
        }
    }

    /// Returns at most 200 bytes, without a part of a character at the end.
    private static func prefix(of text: Data) -> Data {
        var end = text.startIndex + min(200, text.count)
        while end > text.startIndex, end < text.endIndex, text[end] & 0xC0 == 0x80 { end -= 1 }
        return Data(text[..<end])
    }

    /// The problem with its path. Of the body it contains only a value that an enum does not have.
    var problem: String { codingPath.isEmpty ? reason : "at “\(codingPath)”, \(reason)" }

    /// The description with the beginning of the body, secrets redacted.
    public var description: String {
        "The response could not be decoded as \(type): \(problem). The body begins with: \(bodyPrefix)"
    }

    /// Returns a copy for a value at a path in the body.
    func inside(_ path: JSONPath) -> DecodingFailure {
        guard !path.isEmpty else { return self }
        var failure = self
        let separator = codingPath.isEmpty || codingPath.hasPrefix("[") ? "" : "."
        failure.codingPath = "\(path)\(separator)\(codingPath)"
        if Self.namesSecret(path) {
            // The names above the value were not known before.
            failure.body = nil
            // A value may begin with a mark that combines with its quotation mark to one character.
            let scalars = reason.unicodeScalars
            if let start = scalars.firstIndex(of: "“"), let end = scalars.lastIndex(of: "”"), start <= end {
                failure.reason.unicodeScalars.replaceSubrange(start...end, with: "the value".unicodeScalars)
            }
        }
        return failure
    }
}

extension DecodingFailure {
    /// Creates the failure of a ``JSONDecodable`` model.
    init(_ type: Any.Type, body: Data, failure: JSONDecodingFailure) {
        let isShown = Self.isShown(failure.path, in: body)
        let reason = isShown ? failure.reason : failure.reasonWithoutValue
        self.init(type, body: body, path: failure.path.description, reason: reason, cause: failure)
    }

    /// Returns true if redaction leaves the value at a path, and no name above it indicates a secret.
    private static func isShown(_ path: JSONPath, in body: Data) -> Bool {
        guard !namesSecret(path), case .text(let text) = Redaction.standard.body(body, contentType: nil),
            let shown = try? JSON(parsing: text), let json = try? JSON(parsing: body)
        else { return false }
        let value = json[path: path]
        // Compared in their encoded form, because the comparison of characters takes quadratic time for some texts.
        return !value.isNull && shown[path: path].encoded() == value.encoded()
    }

    /// Returns true if a name in a path indicates a secret.
    fileprivate static func namesSecret(_ path: JSONPath) -> Bool {
        path.components.contains { component in
            guard case .key(let key) = component else { return false }
            return SecretRules.usual.memberNames.contains(key)
        }
    }

    /// Creates the failure of a body that is not JSON.
    init(_ type: Any.Type, body: Data, error: JSONSyntaxError) {
        let reason = DecodingReason.notJSON(body, error)
        self.init(type, body: body, path: "", reason: reason, cause: error)
    }

    private init(_ type: Any.Type, body: Data, path: String, reason: String, cause: any Error) {
        self.type = "\(type)"
        plainKind = type == String.self ? "string" : type == Data.self ? "data" : nil
        self.cause = cause
        self.reason = reason
        codingPath = path
        self.body = body
    }
}

extension SluiceError {
    /// The error for a body, or a part of one, that could not be decoded.
    static func undecodable(_ failure: DecodingFailure, _ part: String? = nil) -> SluiceError {
        var reason = "\(part ?? "The response") could not be decoded as \(failure.type): \(failure.problem)."
        if part == nil, failure.codingPath.isEmpty, let kind = failure.plainKind {
            reason += " For the body itself, create the request with “client.\(kind)”."
        }
        return SluiceError(.decodingFailed, reason, step: .serialization, underlyingError: failure)
    }
}

extension DecodingFailure: CustomReflectable, RedactedMirror {
    /// Omits the decoder's error, which may contain parts of the body.
    package var shown: [Mirror.Child] {
        [("type", type), ("codingPath", codingPath), ("reason", reason), ("bodyPrefix", bodyPrefix)]
    }
}

// MARK: - Decoding reason

/// The coding path and the problem that a decoder reports, in the same words for all decoders.
///
/// The problem names types and kinds. The only part of the body in it is a value that an enum does not have.
///
/// Descriptions are compared as bytes. One from user code can contain text from the body, and the comparison of characters takes
/// quadratic time for some texts.
struct DecodingReason {
    private(set) var path: [any CodingKey] = []
    private(set) var text = "the decoder failed"

    /// Reads the error that a decoder threw for a body.
    init(_ cause: any Error, _ type: Any.Type, body: Data) {
        switch cause {
        case DecodingError.typeMismatch(let type, let context):
            path = context.codingPath
            text = Self.mismatch(type, context, body)
        case DecodingError.valueNotFound(let type, let context):
            path = context.codingPath
            text = "expected \(Self.noun(type)), found null"
        case DecodingError.keyNotFound(let key, let context):
            path = context.codingPath
            text = "the key “\(key.stringValue)” is missing"
        case DecodingError.dataCorrupted(let context):
            path = context.codingPath
            corrupted(context, type, body)
        default: break
        }
    }

    // MARK: - Wrong types

    private static func mismatch(_ type: Any.Type, _ context: DecodingError.Context, _ body: Data) -> String {
        let json = try? JSONDocument(body)
        let node = json.flatMap { $0.node(at: context.codingPath) }
        if let json, let node, context.debugDescription.utf8.starts(with: "Invalid number of keys found".utf8) {
            // An enum with associated values: an object whose only key is the case.
            var members = json.members(of: node).makeIterator()
            guard let name = members.next()?.key, members.next() == nil else {
                return "expected an object with one key, a case of \(type)"
            }
            return "\(quoted(json.string(of: name), at: [], in: body)) is not a case of \(type)"
        }
        let found = found(in: context.debugDescription) ?? json.flatMap { json in node.map { "\(json.kind($0))" } }
        guard let found else { return "expected \(noun(type))" }
        if type == Double.self || type == Date.self, let json, let node, json.isDate(node) {
            return """
                expected \(noun(type)), found a string with a date. For a value of the type Date, set the \
                dateDecodingStrategy of the client's modelDecoder to “.iso8601”
                """
        }
        let isLossy = found == "a number" && type is any Numeric.Type
        return "expected \(noun(type)), found \(isLossy ? misfit : found)"
    }

    private static let misfit = "a number that does not fit"

    /// Returns the kind of the value, which the decoders of Foundation and Sluice state.
    private static func found(in description: String) -> String? {
        guard let start = description.utf8.firstRange(of: "found ".utf8)?.upperBound else { return nil }
        let rest = description.utf8[start...]
        let kinds = [
            ("a string", "a string"), ("number", "a number"), ("a number", "a number"), ("bool", "a boolean"),
            ("a Bool", "a boolean"), ("a dictionary", "an object"), ("an object", "an object"),
            ("an array", "an array"), ("null", "null"),
        ]
        return kinds.first { rest.starts(with: "\($0.0) ".utf8) }?.1
    }

    /// Returns the name of a type, with its article for containers.
    private static func noun(_ type: Any.Type) -> String {
        switch type {
        case is [String: Any].Type: "an object"
        case is [Any].Type: "an array"
        default: "\(type)"
        }
    }

    // MARK: - Wrong values

    private mutating func corrupted(_ context: DecodingError.Context, _ type: Any.Type, _ body: Data) {
        if body.isEmpty {
            text = "the body is empty"
        } else if let error = context.underlyingError as? JSONSyntaxError {
            text = path.isEmpty ? Self.notJSON(body, error) : "the string there is not valid JSON"
        } else if context.debugDescription.utf8.elementsEqual("The given data was not valid JSON.".utf8) {
            do {
                _ = try JSONDocument(body)
                // JSONDecoder says the same of a number that its type cannot represent, and does not say where.
                self = Self.number(type, body) ?? self
                if path.isEmpty { text = "a number does not fit the type that the model declares for it" }
            } catch {
                text = Self.notJSON(body, error)
            }
        } else if let value = Self.unknownValue(context, body) {
            text = value
        } else {
            let format = context.debugDescription.utf8.count <= 128 ? Self.formats[context.debugDescription] : nil
            text = format.map { "expected \($0)" } ?? "the data is not valid"
            if context.debugDescription.utf8.elementsEqual(Self.dateWithoutKey.utf8) {
                path = Self.datePath(type, body) ?? path
            }
        }
    }

    /// The description of an error of `JSONDecoder` whose path does not contain the key of the date.
    private static let dateWithoutKey = "Expected date string to be ISO8601-formatted."
    /// The formats that the decoders of Foundation and Sluice expect, by their descriptions.
    private static let formats = [
        dateWithoutKey: "a date in ISO 8601 format",
        "Expected a date and time in ISO 8601 format.": "a date and time in ISO 8601 format",
        "Date string does not match format expected by formatter.": "a date in the formatter's format",
        "Expected a date in the formatter's format.": "a date in the formatter's format",
        "Invalid URL string.": "a URL", "Expected a URL.": "a URL",
        "Attempted to decode UUID from invalid UUID string.": "a UUID",
        "Encountered Data is not valid Base64.": "Base64", "Expected Base64.": "Base64",
    ]

    /// Returns the problem of a value that an enum with raw values does not have.
    private static func unknownValue(_ context: DecodingError.Context, _ body: Data) -> String? {
        let (start, description) = ("Cannot initialize ".utf8, context.debugDescription.utf8)
        guard description.starts(with: start), let middle = description.firstRange(of: " from invalid ".utf8),
            let value = description[middle.upperBound...].firstRange(of: " value ".utf8)
        else { return nil }
        let type = Substring(description[..<middle.lowerBound].dropFirst(start.count))
        let name = quoted(String(Substring(description[value.upperBound...])), at: context.codingPath, in: body)
        return "\(name) is not a value of \(type)"
    }

    /// Returns a value in quotation marks, or a substitute if a key above it indicates a secret, or the body does not
    /// contain it after redaction.
    private static func quoted(_ value: String, at path: [any CodingKey], in body: Data) -> String {
        let names = SecretRules.usual.memberNames
        let isSecret = path.contains { $0.intValue == nil && names.contains($0.stringValue) }
        guard !isSecret, case .text(let shown) = Redaction.standard.body(body, contentType: nil),
            shown.utf8.count <= 1 << 20,
            shown.utf8.firstRange(of: JSON.string(value).formatted(.compact).utf8) != nil
        else { return "the value" }
        return JSON.quoted(value)
    }

    /// Decodes again with a decoder that reports the path of a number that does not fit.
    private static func number(_ type: Any.Type, _ body: Data) -> DecodingReason? {
        guard let type = type as? any Decodable.Type else { return nil }
        do {
            _ = try LenientJSONDecoder(convertsTypes: false).decode(type, from: body)
        } catch {
            // An error about another value is due to the strategies that the model's decoder has.
            if case DecodingError.typeMismatch(let type, _) = error, type is any Numeric.Type {
                let reason = DecodingReason(error, type, body: body)
                return reason.text.hasSuffix(misfit) ? reason : nil
            }
        }
        return nil
    }

    /// Decodes again with a decoder that reports the path of a date that is not in ISO 8601 format.
    private static func datePath(_ type: Any.Type, _ body: Data) -> [any CodingKey]? {
        guard let type = type as? any Decodable.Type else { return nil }
        for keys: JSONDecoder.KeyDecodingStrategy in [.useDefaultKeys, .convertFromSnakeCase] {
            var decoder = LenientJSONDecoder(convertsTypes: false)
            decoder.keyDecodingStrategy = keys
            decoder.dateDecodingStrategy = .iso8601
            do {
                _ = try decoder.decode(type, from: body)
            } catch DecodingError.dataCorrupted(let context)
                where context.debugDescription.utf8.elementsEqual("Expected a date and time in ISO 8601 format.".utf8)
            {
                return context.codingPath
            } catch {
                // The model's decoder has other strategies.
            }
        }
        return nil
    }

    // MARK: - Bodies that are not JSON

    /// Returns the problem of a body that is not JSON: its emptiness, another format, or the place of the error.
    static func notJSON(_ body: Data, _ error: JSONSyntaxError) -> String {
        if body.isEmpty { return "the body is empty" }
        if let format = format(of: body) { return "the body is \(format), not JSON" }
        return "the text is not valid JSON: \(error.reason) (line \(error.line), column \(error.column))"
    }

    /// Returns the name of the markup language that a body begins with; nil for other text.
    private static func format(of body: Data) -> String? {
        let beginning = String(decoding: body.prefix(512), as: UTF8.self)
            .drop { $0.isWhitespace || $0 == "\u{FEFF}" }.lowercased()
        guard beginning.hasPrefix("<") else { return nil }
        let isHTML = ["<!doctype html", "<html", "<head", "<body", "<!--"].contains { beginning.contains($0) }
        return isHTML ? "HTML" : "XML"
    }
}

extension JSONDocument {
    /// Returns the value at a coding path; nil if the decoder has changed the keys.
    fileprivate func node(at path: [any CodingKey]) -> Node? {
        path.reduce(root) { node, key in
            node.flatMap { node in
                key.intValue.flatMap { element($0, of: node) } ?? member(key.stringValue, of: node)
            }
        }
    }

    /// True for a string that the date strategy `.iso8601` decodes.
    fileprivate func isDate(_ node: Node) -> Bool {
        kind(node) == .string && (try? Date(string(of: node), strategy: .iso8601)) != nil
    }

    fileprivate func kind(_ node: Node) -> JSON.Kind { JSON.Kind(kind(of: node)) }
}
