extension HTTPRequest {
    /// Checks the parts that a transport sends unchanged.
    package func validate() throws(SluiceError) {
        if scheme != "http" && scheme != "https" {
            throw SluiceError(
                .unsupportedScheme,
                "The scheme “\(scheme)” is not supported; use http or https.",
                request: self
            )
        }
        // An interceptor may have changed the path, so that the parts form another URL than they show.
        if path.utf8.first != UInt8(ascii: "/") || path.utf8.contains(where: { $0 <= 0x20 || $0 == 0x7F }) {
            throw SluiceError(
                .invalidURL,
                "The path must begin with a slash, and hold neither spaces nor control characters.",
                request: self
            )
        }
        if let flaw = Authority.flaw(of: authority) {
            throw SluiceError(.invalidURL, "The URL is not valid: \(flaw).", request: self)
        }
        if method.rawValue.isEmpty || !method.rawValue.utf8.allSatisfy(\.isTokenCharacter) {
            throw SluiceError(.invalidMethod, "The method is no valid token.", request: self)
        }
        if method == .head && !body.isNone {
            // Such a body has no meaning, and servers may reject it (RFC 9110 §9.3.2).
            throw SluiceError(.unsupported, "A HEAD request cannot have a body.", request: self)
        }
        if let field = headers.firstInvalidField {
            throw SluiceError(
                .invalidHeader,
                "The header “\(field.name.printable)” cannot be sent: a name must be a token, and a value must hold no CR, LF or NUL.",
                request: self
            )
        }
    }
}

extension HTTPHeaderName {
    /// The name with all characters but visible ASCII replaced, for a one-line message.
    fileprivate var printable: String {
        String(decoding: rawValue.utf8.map { (0x20...0x7E).contains($0) ? $0 : UInt8(ascii: "?") }, as: UTF8.self)
    }
}
