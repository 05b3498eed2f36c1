import SluiceLibc

/// The name of a header field. Comparison ignores case (RFC 9110 §5.1).
public struct HTTPHeaderName: Sendable, Hashable, ExpressibleByStringInterpolation, CustomStringConvertible {
    /// The name as written, which is also how it is sent.
    public let rawValue: String

    /// Creates a name. A name that is not a token is rejected when a request that contains it is sent.
    public init(_ rawValue: String) {
        self.rawValue = rawValue
    }

    /// Creates a name from a literal.
    public init(stringLiteral value: String) {
        self.init(value)
    }

    /// The name as written.
    public var description: String { rawValue }

    /// Compares names without regard to case.
    public static func == (lhs: Self, rhs: Self) -> Bool {
        lhs.rawValue.utf8.elementsEqual(rhs.rawValue.utf8) { $0.asciiLowercased == $1.asciiLowercased }
    }

    /// Hashes without regard to case.
    public func hash(into hasher: inout Hasher) {
        for byte in rawValue.utf8 { hasher.combine(byte.asciiLowercased) }
    }

    /// `Accept`
    public static let accept: Self = "Accept"
    /// `Accept-Encoding`
    public static let acceptEncoding: Self = "Accept-Encoding"
    /// `Accept-Language`
    public static let acceptLanguage: Self = "Accept-Language"
    /// `Age`
    public static let age: Self = "Age"
    /// `Authorization`
    public static let authorization: Self = "Authorization"
    /// `Cache-Control`
    public static let cacheControl: Self = "Cache-Control"
    /// `Connection`
    public static let connection: Self = "Connection"
    /// `Content-Disposition`
    public static let contentDisposition: Self = "Content-Disposition"
    /// `Content-Encoding`
    public static let contentEncoding: Self = "Content-Encoding"
    /// `Content-Length`
    public static let contentLength: Self = "Content-Length"
    /// `Content-Range`
    public static let contentRange: Self = "Content-Range"
    /// `Content-Type`
    public static let contentType: Self = "Content-Type"
    /// `Cookie`
    public static let cookie: Self = "Cookie"
    /// `Date`
    public static let date: Self = "Date"
    /// `ETag`
    public static let eTag: Self = "ETag"
    /// `Expect`
    public static let expect: Self = "Expect"
    /// `Expires`
    public static let expires: Self = "Expires"
    /// `Host`
    public static let host: Self = "Host"
    /// `If-Match`
    public static let ifMatch: Self = "If-Match"
    /// `If-Modified-Since`
    public static let ifModifiedSince: Self = "If-Modified-Since"
    /// `If-None-Match`
    public static let ifNoneMatch: Self = "If-None-Match"
    /// `If-Range`
    public static let ifRange: Self = "If-Range"
    /// `Last-Modified`
    public static let lastModified: Self = "Last-Modified"
    /// `Link`
    public static let link: Self = "Link"
    /// `Location`
    public static let location: Self = "Location"
    /// `Origin`
    public static let origin: Self = "Origin"
    /// `Range`
    public static let range: Self = "Range"
    /// `Referer`
    public static let referer: Self = "Referer"
    /// `Retry-After`
    public static let retryAfter: Self = "Retry-After"
    /// `Set-Cookie`
    public static let setCookie: Self = "Set-Cookie"
    /// `Transfer-Encoding`
    public static let transferEncoding: Self = "Transfer-Encoding"
    /// `User-Agent`
    public static let userAgent: Self = "User-Agent"
    /// `Vary`
    public static let vary: Self = "Vary"
}

extension String {
    /// Returns true if the other text has the same bytes.
    ///
    /// The operator `==` normalizes texts that are not ASCII. For a run of combining characters, that takes quadratic time.
    package func hasBytes(of other: String) -> Bool {
        let (bytes, others) = (utf8, other.utf8)
        guard bytes.count == others.count else { return false }
        if bytes.isEmpty { return true }
        let isSame = bytes.withContiguousStorageIfAvailable { bytes in
            others.withContiguousStorageIfAvailable { others in
                guard let start = bytes.baseAddress, let otherStart = others.baseAddress else { return false }
                return memcmp(start, otherStart, bytes.count) == 0
            }
        }
        return (isSame ?? nil) ?? bytes.elementsEqual(others)
    }
}

extension UInt8 {
    /// The byte with `A`…`Z` converted to lowercase.
    @inlinable package var asciiLowercased: UInt8 {
        (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(self) ? self | 0x20 : self
    }

    /// True for `0`…`9`.
    @inlinable package var isDigit: Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(self) }

    /// True for `a`…`z`.
    @inlinable package var isLowercaseLetter: Bool { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(self) }

    /// True for `A`…`Z` and `a`…`z`.
    @inlinable package var isLetter: Bool { (self | 0x20).isLowercaseLetter }

    /// True if the byte may occur in a scheme (RFC 3986 §3.1).
    var isSchemeCharacter: Bool { isLetter || isDigit || "+-.".utf8.contains(self) }

    /// True if the byte may occur in a token, such as a method or a field name (RFC 9110 §5.6.2).
    @inlinable package var isTokenCharacter: Bool {
        // One bit for each ASCII character: digits, letters and "!#$%&'*+-.^_`|~".
        let bits: UInt64 = self < 64 ? 0x03FF_6CFA_0000_0000 : 0x57FF_FFFF_C7FF_FFFE
        return self < 128 && bits >> UInt64(self & 63) & 1 == 1
    }
}

/// Names that Sluice's modules share.
extension HTTPHeaderName {
    package static let cacheStatus: Self = "Cache-Status"
    package static let contentLanguage: Self = "Content-Language"
    package static let contentLocation: Self = "Content-Location"
    package static let lastEventID: Self = "Last-Event-ID"
    package static let pragma: Self = "Pragma"
    package static let proxyAuthorization: Self = "Proxy-Authorization"

    /// The request fields that contain credentials.
    package static let credentialFields: [Self] = [.authorization, .cookie, .proxyAuthorization]

    /// The fields that describe content. Responses without content omit them.
    package static let contentFields: [Self] = [
        .contentEncoding, .contentLanguage, .contentLength, .contentRange, .contentType,
    ]
}
