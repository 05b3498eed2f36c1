extension Proxy {
    /// Parses a proxy's URL, as used in settings and environment variables: `http://user:password@proxy.example:3128`.
    ///
    /// - Parameter text: A URL whose scheme is `http`, `https`, `socks4`, `socks4a`, `socks5` or `socks5h`; without a
    ///   scheme it is an HTTP proxy. With `socks4` and `socks5` the client resolves host names, otherwise the proxy
    ///   does, as in other tools. Percent-encode characters of name and password that have a meaning in a URL.
    /// - Throws: ``SluiceError/Code/invalidConfiguration``. The error omits the text, which may contain a password.
    public init(_ text: String) throws(SluiceError) {
        guard let proxy = Proxy(reading: text) else {
            throw SluiceError(
                .invalidConfiguration,
                "The proxy's URL is none that is known; write one as http://proxy.example:3128 or socks5h://proxy.example:1080.",
                step: .building
            )
        }
        if let problem = proxy.problem { throw SluiceError(.invalidConfiguration, problem, step: .building) }
        self = proxy
    }

    /// Parses a proxy's URL; nil for any other text.
    init?(reading text: String) {
        var rest = text[...]
        var scheme = Scheme.http
        if let end = rest.utf8.firstRange(of: "://".utf8) {
            guard let known = Scheme(rawValue: rest[..<end.lowerBound].lowercased()) else { return nil }
            scheme = known
            rest = rest[end.upperBound...]
        }
        // A trailing slash is common and has no meaning.
        if rest.utf8.last == UInt8(ascii: "/") { rest.removeLast() }
        var credentials: Credentials?
        if let at = rest.utf8.lastIndex(of: UInt8(ascii: "@")) {
            let parts = rest[..<at].utf8.split(
                separator: UInt8(ascii: ":"),
                maxSplits: 1,
                omittingEmptySubsequences: false
            )
            let texts = parts.compactMap { Proxy.percentDecoded($0) }
            guard texts.count == parts.count, let user = texts.first else { return nil }
            credentials = Credentials(user, texts.count > 1 ? texts[1] : "")
            rest = rest[at...].dropFirst()
        }
        self.init(scheme, String(rest), credentials)
        if address == nil { return nil }
    }

    private static func percentDecoded(_ text: some Sequence<UInt8>) -> String? {
        var bytes: [UInt8] = []
        var rest = Array(text)[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            let digits = rest.prefix(2)
            guard digits.count == 2, digits.first != UInt8(ascii: "+"),
                let value = UInt8(String(decoding: digits, as: UTF8.self), radix: 16)
            else { return nil }
            bytes.append(value)
            rest = rest.dropFirst(2)
        }
        return String(validating: bytes, as: UTF8.self)
    }

    /// Returns `host:port` with the default port added; nil if the text is not a valid host name or address.
    static func normalized(_ text: Substring, port: Int) -> String? {
        let isBracketed = text.utf8.first == UInt8(ascii: "[")
        guard
            let end = isBracketed
                ? text.utf8.firstIndex(of: UInt8(ascii: "]")) : text.utf8.firstIndex(of: UInt8(ascii: ":"))
        else {
            return !isBracketed && isName(text) ? "\(text):\(port)" : nil
        }
        var host = text[..<end]
        var rest = text[end...]
        if isBracketed {
            guard let address = IPAddress(String(host.dropFirst())), !address.isIPv4 else { return nil }
            host = "[\(address)]"
            rest.removeFirst()
            if rest.isEmpty { return "\(host):\(port)" }
        } else if !isName(host) {
            return nil
        }
        guard rest.utf8.first == UInt8(ascii: ":"), let port = portNumber(rest.dropFirst()) else { return nil }
        return "\(host):\(port)"
    }

    private static func portNumber(_ digits: Substring) -> Int? {
        guard (1...5).contains(digits.utf8.count),
            digits.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }), let port = Int(digits),
            (1...65535).contains(port)
        else { return nil }
        return port
    }

    /// Returns true if a text is a host name. Non-ASCII bytes are allowed; the engine encodes them.
    private static func isName(_ text: Substring) -> Bool {
        !text.isEmpty
            && text.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "-"), UInt8(ascii: "_"),
                    0x80...:
                    true
                default: false
                }
            }
    }
}
