/// A request as it goes onto the wire.
///
/// The target is kept in the parts that HTTP itself uses (RFC 9110 §4.2), so that an interceptor can read the
/// origin or change the path without parsing a URL again.
public struct HTTPRequest: Sendable {
    /// The method.
    public var method: HTTPMethod
    /// `http` or `https`, in small letters.
    public var scheme: String
    /// Host and, where it is not the scheme's own, port: `api.example.com`, `[::1]:8080`.
    public var authority: String
    /// Path and query, percent-encoded, beginning with a slash.
    public var path: String
    /// The header fields.
    public var headers: HTTPHeaders
    /// The body.
    public var body: HTTPBody

    /// Makes a request from its parts.
    public init(
        method: HTTPMethod = .get,
        scheme: String,
        authority: String,
        path: String,
        headers: HTTPHeaders = [:],
        body: HTTPBody = .none
    ) {
        self.method = method
        self.scheme = scheme
        self.authority = authority
        self.path = path
        self.headers = headers
        self.body = body
    }

    /// The whole URL, query included.
    public var url: String {
        var url = ""
        url.reserveCapacity(scheme.utf8.count + 3 + authority.utf8.count + path.utf8.count)
        url += scheme
        url += "://"
        url += authority
        url += path
        return url
    }

    /// The URL without user name, query and fragment, and without parameters of its path that hold secrets: for errors and logs.
    public var redactedURL: String {
        let at = authority.utf8.lastIndex(of: UInt8(ascii: "@"))
        let host = at.map { authority[$0...].dropFirst() } ?? authority[...]
        // By scalars: a combining mark would make one character of itself and the question mark before it.
        let path = String(path.unicodeScalars.prefix { $0 != "?" && $0 != "#" })
        return SecretRules.usual.url("\(scheme)://\(host)\(path)")
    }

    /// Scheme, host and port (RFC 6454 §4): what credentials and connections belong to.
    public var origin: HTTPOrigin { HTTPOrigin(scheme: scheme, authority: authority) }
}

extension HTTPRequest: CustomStringConvertible, CustomReflectable {
    /// Method and ``redactedURL``.
    public var description: String { "\(method) \(redactedURL)" }

    /// What `dump` shows: method, the URL without its secrets, the names of the header fields, and how long the body is.
    public var customMirror: Mirror {
        let url = SecretRules.usual.url(url)
        return Mirror(
            self,
            children: ["method": method, "url": url, "headers": headers, "body": body],
            displayStyle: .struct
        )
    }
}

/// A scheme with a host and a port (RFC 6454 §4).
public struct HTTPOrigin: Sendable, Hashable, CustomStringConvertible {
    /// `http` or `https`, in small letters.
    public let scheme: String
    /// Host and port in small letters, without the scheme's default port.
    public let authority: String

    /// Makes an origin; the scheme's default port and capital letters make no difference.
    public init(scheme: String, authority: String) {
        self.scheme = scheme.utf8.contains { $0 != $0.asciiLowercased } ? scheme.lowercased() : scheme
        var host = authority
        let defaultPort = self.scheme == "https" ? ":443" : ":80"
        if host.utf8.count > defaultPort.utf8.count,
            host.utf8.suffix(defaultPort.utf8.count).elementsEqual(defaultPort.utf8)
        {
            host.removeLast(defaultPort.utf8.count)
        }
        if host.utf8.contains(where: { $0 != $0.asciiLowercased }) { host = host.lowercased() }
        self.authority = host
    }

    /// `scheme://host:port`
    public var description: String { "\(scheme)://\(authority)" }
}
