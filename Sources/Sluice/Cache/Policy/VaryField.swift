import SluiceHTTP

/// By which request header fields responses differ (RFC 9110 §12.5.5).
enum VaryField: Sendable, Hashable {
    /// By none.
    case nothing
    /// By what no header field tells: no other request matches.
    case anything
    /// By these, in small letters, sorted, each once.
    case fields([String])

    init(_ headers: HTTPHeaders) {
        guard headers.contains(.vary) else {
            self = .nothing
            return
        }
        var names: Set<String> = []
        for line in headers.values(for: .vary) {
            for member in line.utf8.split(separator: UInt8(ascii: ",")) {
                let name = member.trimmingListSpace
                if name.isEmpty { continue }
                // What is no field name may be a field name to its writer.
                guard name.allSatisfy(\.isTokenCharacter), !name.elementsEqual("*".utf8) else {
                    self = .anything
                    return
                }
                names.insert(Substring(name).lowercased())
            }
        }
        self = names.isEmpty ? .nothing : .fields(names.sorted())
    }

    /// What tells the response to a request apart from those to others (RFC 9111 §4.1): a digest, as the values may be secrets.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - identity: The digest of the credentials that the response is for; nil for anybody.
    /// - Returns: Empty where there is nothing to tell apart; nil where no other request can match.
    func variant(of request: HTTPRequest, identity: String?) -> String? {
        switch self {
        case .anything:
            return nil
        case .nothing:
            return Self.plainVariant(identity)
        case .fields(let names):
            guard let digest = Self.digest(of: names, in: request.headers) else { return nil }
            return identity.map { "\(digest).\($0)" } ?? digest
        }
    }

    /// The variant of what varies by nothing.
    static func plainVariant(_ identity: String?) -> String { identity.map { ".\($0)" } ?? "" }

    /// Whether it names one of these fields, or none in particular.
    func names(anyOf hidden: [HTTPHeaderName]) -> Bool {
        switch self {
        case .nothing: false
        case .anything: true
        case .fields(let names): hidden.contains { names.contains($0.rawValue.lowercased()) }
        }
    }

    private static func digest(of names: [String], in headers: HTTPHeaders) -> String? {
        var bytes: [UInt8] = []
        for name in names {
            let field = HTTPHeaderName(name)
            append(Array(name.utf8), to: &bytes)
            // An absent field matches an absent one only, not an empty one.
            guard headers.contains(field) else {
                bytes.append(0)
                continue
            }
            bytes.append(1)
            append(SelectingField.normalized(headers.fieldValues(for: field), of: name), to: &bytes)
        }
        guard let digest = SystemSHA256.digest(of: bytes) else { return nil }
        return HexText.text(length: 2 * digest.count) { text in
            for byte in digest { text.append(UInt64(byte), digits: 2) }
        }
    }

    /// With its length before it, so that no two lists of texts are the same bytes.
    private static func append(_ text: [UInt8], to bytes: inout [UInt8]) {
        withUnsafeBytes(of: UInt64(text.count).littleEndian) { bytes += $0 }
        bytes += text
    }
}
