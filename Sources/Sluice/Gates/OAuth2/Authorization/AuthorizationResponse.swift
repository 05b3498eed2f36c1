import SluiceHTTP

/// The response to an authorization request: the query of the redirect URL (RFC 6749 §4.1.2).
struct AuthorizationResponse: Sendable {
    private var values: [String: String] = [:]
    /// The names that occur more than once, which RFC 6749 §3.1 forbids.
    private var repeated: Set<String> = []

    /// Parses a whole URL, a request target, or only a query or form.
    init(_ redirect: String) {
        var text = redirect.utf8[...]
        if let number = text.firstIndex(of: UInt8(ascii: "#")) { text = text[..<number] }
        if let question = text.firstIndex(of: UInt8(ascii: "?")) { text = text[question...].dropFirst() }
        for pair in text.split(separator: UInt8(ascii: "&")) {
            let name = Self.decoded(pair.prefix { $0 != UInt8(ascii: "=") })
            let value = Self.decoded(pair.drop { $0 != UInt8(ascii: "=") }.dropFirst())
            if values.updateValue(value, forKey: name) != nil { repeated.insert(name) }
        }
    }

    /// Returns the authorization code if the response answers the request.
    ///
    /// - Parameters:
    ///   - state: The state of the request.
    ///   - issuer: The expected issuer; nil for no check.
    /// - Returns: The code.
    /// - Throws: The server's error, or the reason why the response is refused.
    func code(state: String, issuer: String?) throws(OAuth2Error) -> String {
        if !repeated.isDisjoint(with: ["code", "state", "iss", "error"]) {
            throw OAuth2Error(.invalidResponse, "the redirect URL has a parameter twice")
        }
        // Checked before everything else, because anybody can forge a response, errors included. The
        // comparison takes constant time.
        guard let own = values["state"], Secret(own) == Secret(state) else { throw OAuth2Error(.stateMismatch) }
        if let issuer, values["iss"] != issuer {
            throw OAuth2Error(.issuerMismatch, values["iss"] == nil ? "it does not say from which" : nil)
        }
        if let error = values["error"], !error.isEmpty {
            throw OAuth2Error(
                OAuth2Error.Code(rawValue: Self.line(error)),
                values["error_description"].map(Self.line),
                uri: values["error_uri"].map(Self.line)
            )
        }
        guard let code = values["code"], !code.isEmpty else {
            throw OAuth2Error(.invalidResponse, "the redirect URL has neither code nor error")
        }
        return code
    }

    /// Decodes form encoding. Percent signs without two hexadecimal digits stay as they are.
    private static func decoded(_ text: Substring.UTF8View) -> String {
        let bytes = Array(text)
        var output: [UInt8] = []
        output.reserveCapacity(bytes.count)
        var index = 0
        while index < bytes.count {
            if let byte = PercentEncoding.triplet(in: bytes[...], at: index) {
                output.append(byte)
                index += 3
            } else {
                output.append(bytes[index] == UInt8(ascii: "+") ? UInt8(ascii: " ") : bytes[index])
                index += 1
            }
        }
        return String(decoding: output, as: UTF8.self)
    }

    /// The text as one line of at most 300 printable characters.
    private static func line(_ text: String) -> String {
        let scalars = text.unicodeScalars.map { $0.properties.generalCategory == .control ? " " : $0 }
        return String(String.UnicodeScalarView(scalars.prefix(300)))
    }
}
