import SluiceHTTP

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension Redaction {
    /// Removes the secrets from a body: secret members of JSON at any depth, and secret fields of forms.
    ///
    /// Any other body, or a malformed one, is withheld if it contains a secret name, and is unchanged otherwise.
    ///
    /// - Parameters:
    ///   - data: The body.
    ///   - contentType: Its `Content-Type`; nil if there is none.
    ///   - contentEncoding: Its `Content-Encoding` if it is still encoded, as a request's body is and a response's is
    ///     not. An encoded body is withheld.
    /// - Returns: The redacted body.
    public func body(_ data: Data, contentType: String?, contentEncoding: String? = nil) -> RedactedBody {
        let isEncoded = contentEncoding.map { !$0.isEmpty && $0.lowercased() != "identity" } ?? false
        if isEncoded { return isNone ? .binary : .withheld(.encoded) }
        return body(data, contentType: contentType, depth: 0)
    }

    func body(_ data: Data, contentType: String?, depth: Int) -> RedactedBody {
        if data.count > bodyLimit, !isNone { return .withheld(.tooLong) }
        let type = contentType.flatMap(ContentType.init)
        if type?.type == "multipart", let boundary = type?["boundary"] {
            if let form = MultipartRedactor.redacted(data, boundary: boundary, depth: depth, self) {
                return .text(form)
            }
            return undetermined(data, type)
        }
        guard let text = Self.text(of: data, type) else { return undetermined(data, type) }
        if isNone { return .text(text) }
        if type?.essence == "application/x-www-form-urlencoded" {
            var pairs = PairRedactor(rules, Array(text.utf8))
            pairs.pairs()
            return .text(String(decoding: pairs.output, as: UTF8.self))
        }
        if let json = json(text) { return .text(json) }
        return mayHoldSecret(Array(text.utf8)) ? .withheld(.secret) : .text(text)
    }

    /// Returns the result for a body that is not text or cannot be parsed.
    private func undetermined(_ data: Data, _ type: ContentType?) -> RedactedBody {
        if isNone { return String(validating: data, as: UTF8.self).map { .text($0) } ?? .binary }
        if mayHoldSecret(Array(data)) { return .withheld(.secret) }
        if type?.type == "multipart", let text = String(validating: data, as: UTF8.self) { return .text(text) }
        if Self.isCompressed(data) { return .withheld(.encoded) }
        return type?.isText == true ? .withheld(.undecodable) : .binary
    }

    /// Returns true if data begins like gzip, zlib or Zstandard (RFC 1952 §2.3.1, RFC 1950 §2.2, RFC 8878 §3.1.1).
    private static func isCompressed(_ data: Data) -> Bool {
        let starts: [[UInt8]] = [
            [0x1F, 0x8B], [0x28, 0xB5, 0x2F, 0xFD], [0x78, 1], [0x78, 0x5E], [0x78, 0x9C], [0x78, 0xDA],
        ]
        return starts.contains { data.starts(with: $0) }
    }

    /// Returns true if the bytes contain a secret name, or an escape sequence that could hide one.
    private func mayHoldSecret(_ bytes: [UInt8]) -> Bool {
        SecretScanner.holdsSecretName(bytes, rules) || SecretScanner.holdsSecret(bytes, rules)
            // Malformed JSON may contain a letter as an escape sequence.
            || bytes.contains(UInt8(ascii: "\\"))
                && String(decoding: bytes, as: UTF8.self).utf8.split(separator: UInt8(ascii: "\\"))
                    .contains { $0.starts(with: "u00".utf8) }
    }

    private static func text(of data: Data, _ type: ContentType?) -> String? {
        guard let text = decoded(data, type) else { return nil }
        // Text in any encoding has no control characters other than white space and escape.
        let isBinary = text.utf8.contains { $0 < 0x20 && !(9...13).contains($0) && $0 != 0x1B }
        return isBinary && type?.isText != true ? nil : text
    }

    private static func decoded(_ data: Data, _ type: ContentType?) -> String? {
        if let mark = ByteOrderMark(of: data) { return try? mark.charset.decode(data, from: mark.length) }
        if let label = type?.charset, let charset = Charset(label: label), charset != .utf8 {
            return try? charset.decode(data, from: 0)
        }
        return String(validating: data, as: UTF8.self)
    }
}

extension ContentType {
    /// True if content of this type is text.
    var isText: Bool {
        if type == "text" { return true }
        let kind = subtype.split(separator: "+").last ?? ""
        return type == "application"
            && ["json", "xml", "javascript", "x-www-form-urlencoded", "x-ndjson", "yaml", "toml", "graphql", "jsonl"]
                .contains(kind)
    }
}
