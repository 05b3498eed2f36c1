/// A request as it is sent.
///
/// The target is stored in the parts that HTTP uses (RFC 9110 §4.2), so that an interceptor can read the origin or
/// change the path without parsing a URL.
public struct HTTPRequest: Sendable {
    @usableFromInline
    struct Parts: Sendable {
        var method: HTTPMethod
        var scheme: String
        var authority: String
        var path: String
        @usableFromInline var headers: HTTPHeaders
        var body: RequestBody
        var timeoutChanges: [TimeoutChange] = []
    }

    /// One element. An array, because requests are copied often, and its copies share their storage until they change.
    @usableFromInline var storage: [Parts]

    /// The method.
    public var method: HTTPMethod {
        get { storage[0].method }
        _modify { yield &storage[0].method }
    }
    /// The scheme, `http` or `https`, in lowercase.
    public var scheme: String {
        get { storage[0].scheme }
        _modify { yield &storage[0].scheme }
    }
    /// The host, with the port unless it is the scheme's default: `api.example.com`, `[::1]:8080`.
    public var authority: String {
        get { storage[0].authority }
        _modify { yield &storage[0].authority }
    }
    /// The path and query, percent-encoded, beginning with a slash.
    public var path: String {
        get { storage[0].path }
        _modify { yield &storage[0].path }
    }
    /// The header fields.
    public var headers: HTTPHeaders {
        // Yields the value instead of copying it. Inlined, because a coroutine of another module allocates its frame.
        @inlinable _read { yield storage[0].headers }
        @inlinable _modify { yield &storage[0].headers }
    }
    /// The body.
    public var body: RequestBody {
        // A coroutine that yields a large value would allocate its frame.
        get { storage[0].body }
        _modify { yield &storage[0].body }
    }
    /// The time-outs that differ from those of the transfer, in the order in which they were set.
    package var timeoutChanges: [TimeoutChange] { storage[0].timeoutChanges }

    /// Creates a request from its parts.
    public init(
        method: HTTPMethod = .get,
        scheme: String,
        authority: String,
        path: String,
        headers: HTTPHeaders = [:],
        body: RequestBody = .none
    ) {
        storage = [
            Parts(method: method, scheme: scheme, authority: authority, path: path, headers: headers, body: body)
        ]
    }

    /// Sets time-outs in an interceptor, a plugin or a client's `requestMapping`. Those that are omitted keep their
    /// values. They are not sent, and have no effect on a request that is given to a transport directly.
    ///
    /// ```swift
    /// func adapt(_ request: inout HTTPRequest, context: RequestContext) {
    ///     if context.tags.contains("search") { request.setTimeouts(idle: .seconds(2)) }
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - total: The time until the last byte. An interceptor limits its attempt, within the time left for the request.
    ///     A `requestMapping` limits the whole request, with gates, all attempts and pauses.
    ///   - connect: The time until the connection is established.
    ///   - idle: The time without a byte in either direction.
    public mutating func setTimeouts(total: Duration? = nil, connect: Duration? = nil, idle: Duration? = nil) {
        if let total { storage[0].timeoutChanges.append(.total(total)) }
        if let connect { storage[0].timeoutChanges.append(.connect(connect)) }
        if let idle { storage[0].timeoutChanges.append(.idle(idle)) }
    }

    /// Appends an item to the query of ``path``, in an interceptor or a plugin for example.
    ///
    /// ```swift
    /// func adapt(_ request: inout HTTPRequest, context: RequestContext) { request.addQuery("lang", "en") }
    /// ```
    ///
    /// - Parameters:
    ///   - name: The name; all but unreserved characters are percent-encoded (RFC 3986 §2.3).
    ///   - value: The value, encoded in the same way; nil appends nothing.
    public mutating func addQuery(_ name: String, _ value: String?) {
        guard let value else { return }
        var item: [UInt8] = []
        if !path.utf8.contains(UInt8(ascii: "?")) {
            item.append(UInt8(ascii: "?"))
        } else if let last = path.utf8.last, last != UInt8(ascii: "?"), last != UInt8(ascii: "&") {
            item.append(UInt8(ascii: "&"))
        }
        PercentEncoding.append(component: name, to: &item)
        item.append(UInt8(ascii: "="))
        PercentEncoding.append(component: value, to: &item)
        path += String(decoding: item, as: UTF8.self)
    }

    /// The whole URL, including the query. Read-only: it is changed by its parts.
    public var url: String {
        get {
            String(joining: scheme, "://", authority, path)
        }
        @available(
            *,
            unavailable,
            message: "Set the parts: \"path = \"/users\"\", \"addQuery(\"page\", \"2\")\", \"authority\" or \"scheme\"."
        )
        set {}
    }

    /// The URL without user name, query, fragment and secret path parameters, for errors and logs.
    public var redactedURL: String {
        let at = authority.utf8.lastIndex(of: UInt8(ascii: "@"))
        let host = at.map { authority[$0...].dropFirst() } ?? authority[...]
        // Compares scalars: a question mark and a combining mark after it form one character.
        let path = String(path.unicodeScalars.prefix { $0 != "?" && $0 != "#" })
        return SecretRules.usual.url("\(scheme)://\(host)\(path)").withoutControls
    }

    /// The scheme, host and port (RFC 6454 §4), which determine the scope of credentials and connections.
    public var origin: HTTPOrigin { HTTPOrigin(scheme: scheme, authority: authority) }
}

extension HTTPRequest: CustomStringConvertible, CustomReflectable, RedactedMirror {
    /// The method and ``redactedURL``.
    public var description: String { "\(method.rawValue.withoutControls) \(redactedURL)" }

    /// The method, the URL without secrets, the names of header fields, and the body's length.
    package var shown: [Mirror.Child] {
        [("method", method), ("url", SecretRules.usual.url(url)), ("headers", headers), ("body", body)]
    }
}

/// A time-out that a request sets: ``HTTPRequest/setTimeouts(total:connect:idle:)``.
package enum TimeoutChange: Sendable, Hashable {
    case total(Duration)
    case connect(Duration)
    case idle(Duration)
}

/// A request method (RFC 9110 §9).
public struct HTTPMethod: Sendable, Hashable, RawRepresentable, ExpressibleByStringLiteral, CustomStringConvertible {
    /// The method as it appears in the request line. Methods are case-sensitive.
    public let rawValue: String

    /// Creates a method from any token, such as `PURGE`.
    public init(rawValue: String) {
        self.rawValue = rawValue
    }

    /// Creates a method from a literal.
    public init(stringLiteral value: String) {
        self.init(rawValue: value)
    }

    /// `GET`
    public static let get = HTTPMethod(rawValue: "GET")
    /// `HEAD`
    public static let head = HTTPMethod(rawValue: "HEAD")
    /// `POST`
    public static let post = HTTPMethod(rawValue: "POST")
    /// `PUT`
    public static let put = HTTPMethod(rawValue: "PUT")
    /// `DELETE`
    public static let delete = HTTPMethod(rawValue: "DELETE")
    /// `PATCH` (RFC 5789)
    public static let patch = HTTPMethod(rawValue: "PATCH")
    /// `OPTIONS`
    public static let options = HTTPMethod(rawValue: "OPTIONS")
    /// `TRACE`
    public static let trace = HTTPMethod(rawValue: "TRACE")

    /// True if the method is safe, that is read-only (RFC 9110 §9.2.1).
    public var isSafe: Bool {
        switch self {
        case .get, .head, .options, .trace: true
        default: false
        }
    }

    /// True if sending the request twice has the same effect as sending it once (RFC 9110 §9.2.2).
    public var isIdempotent: Bool {
        isSafe || self == .put || self == .delete
    }

    /// The method as it appears in the request line.
    public var description: String { rawValue }
}

/// An origin: a scheme, a host and a port (RFC 6454 §4).
public struct HTTPOrigin: Sendable, Hashable, CustomStringConvertible {
    /// The scheme, `http` or `https`, in lowercase.
    public let scheme: String
    /// The host and port in lowercase, without the scheme's default port.
    public let authority: String

    /// Creates an origin. Normalizes case and removes the scheme's default port.
    public init(scheme: String, authority: String) {
        let isUsual = scheme == "https" || scheme == "http"
        self.scheme = isUsual || scheme.isLowercaseASCII ? scheme : scheme.lowercased()
        var host = authority
        let defaultPort: StaticString = self.scheme == "https" ? ":443" : ":80"
        if host.hasUTF8Suffix(defaultPort) { host.removeLast(defaultPort.utf8CodeUnitCount) }
        if !host.isLowercaseASCII {
            // The zone of an IPv6 address is the name of an interface, whose case counts (RFC 4007 §11.2).
            let zone = host.firstIndex(of: "%") ?? host.endIndex
            host = host[..<zone].lowercased() + host[zone...]
        }
        self.authority = host
    }

    /// The origin as `scheme://host:port`.
    public var description: String { "\(scheme)://\(authority)" }
}

extension String {
    /// True if the text has no ASCII letter in uppercase.
    fileprivate var isLowercaseASCII: Bool {
        !containsByte { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) }
    }

    fileprivate func hasUTF8Suffix(_ suffix: StaticString) -> Bool {
        let count = suffix.utf8CodeUnitCount
        var text = self
        return text.withUTF8 { bytes in
            guard bytes.count > count else { return false }
            for index in 0..<count where bytes[bytes.count - count + index] != suffix.utf8Start[index] { return false }
            return true
        }
    }
}

extension HTTPOrigin {
    /// The host without brackets and port.
    public var host: String {
        if authority.utf8.first == UInt8(ascii: "[") {
            return String(authority.dropFirst().prefix { $0 != "]" })
        }
        return String(authority.prefix { $0 != ":" })
    }

    /// The port; the default port of the scheme if the authority has none.
    public var port: Int {
        let rest = authority.utf8.first == UInt8(ascii: "[") ? authority.drop { $0 != "]" }.dropFirst() : authority[...]
        let digits = rest.drop { $0 != ":" }.dropFirst()
        return Int(digits) ?? (scheme == "https" ? 443 : 80)
    }
}
