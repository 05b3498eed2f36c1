import SluiceFoundation
import SluiceHTTP

/// A stored response without its body: the request it answers, its times and its head.
package struct StoredResponse: Sendable {
    package let method: HTTPMethod
    package let url: String
    /// The digest of the credentials that the request was sent with; only requests with the same credentials match. Nil
    /// if the request had no credentials, or if the response is `public` and matches any request of its partition.
    package let identity: String?
    /// The status, headers and version as received. A later 304 updates the headers and the version.
    package let head: HTTPResponse
    /// The time at which the request was sent.
    package let requested: Date
    /// The time at which the head was received.
    package let received: Date
    /// The part of the representation that the body contains; nil for the entire representation.
    package let part: StoredPart?
    /// The cache metadata parsed from the head.
    let metadata: CacheMetadata

    package init(
        method: HTTPMethod,
        url: String,
        identity: String? = nil,
        head: HTTPResponse,
        requested: Date,
        received: Date,
        part: StoredPart? = nil
    ) {
        var head = head
        head.headers.releaseRoom()
        self.method = method
        self.url = url
        self.identity = identity
        self.head = head
        self.requested = requested
        self.received = received
        self.part = part
        metadata = CacheMetadata(
            head,
            method: method,
            url: url,
            identity: identity,
            requested: requested,
            received: received,
            part: part
        )
    }
}

extension StoredResponse: CustomReflectable, RedactedMirror {
    /// The URL without secrets and the head.
    package var shown: [Mirror.Child] {
        [("method", method), ("url", SecretRules.usual.url(url)), ("head", head), ("received", received)]
    }
}

/// The contiguous bytes of a representation that are stored (RFC 9110 §14).
package struct StoredPart: Sendable, Hashable {
    /// The position of the stored bytes in the representation.
    package let range: Range<Int64>
    /// The number of bytes of the representation.
    package let total: Int64

    /// Creates a part.
    package init(range: Range<Int64>, total: Int64) {
        self.range = range
        self.total = total
    }

    /// The part in the variant of an entry.
    var variant: String { "|\(range.lowerBound)-\(range.upperBound)/\(total)" }

    /// True if the body of the entry has as many bytes as the part.
    func isWhole(in entry: CacheEntry) -> Bool {
        range.lowerBound >= 0 && range.upperBound <= total
            && Int64(entry.body.count) == range.upperBound - range.lowerBound
    }
}

// MARK: - Metadata

/// The cache metadata of a stored response, parsed once so that a cache hit parses nothing.
///
/// Times are in seconds since the reference date of `Date`; ages and lifetimes are in seconds.
package final class CacheMetadata: Sendable {
    /// True if the response answers a GET.
    let isGet: Bool
    /// The digest of the credentials: ``StoredResponse/identity``.
    let identity: String?
    /// The variant of the response if it has no `Vary` field.
    let plainVariant: String
    /// The end of the variant of a part without a strong validator: its range, so that such parts are kept apart and
    /// never combined (RFC 9111 §3.4). Empty for other responses.
    private let partVariant: String
    /// The part of the representation that the body contains; nil for the entire representation.
    let part: StoredPart?
    let directives: ResponseDirectives
    /// The value of the `Date` field; the time of receipt if there is none (RFC 9110 §6.6.1).
    let date: Double
    let received: Double
    /// The age at the time of receipt (RFC 9111 §4.2.3: `corrected_initial_age`).
    let initialAge: Double
    /// The freshness lifetime of `max-age` or `Expires` (§4.2.1); nil if it has neither.
    let explicitLifetime: Double?
    /// The time between `Last-Modified` and `Date`; nil if heuristic freshness does not apply (§4.2.2).
    let timeSinceModification: Double?
    let vary: VaryField
    /// The entity tag; nil if it is missing or malformed.
    let entityTag: EntityTag?
    /// The date of last modification; nil if it is missing or malformed.
    let lastModified: Date?
    /// True if the response has a content coding. The body is stored decoded, so its byte ranges are not those of the
    /// representation.
    let isEncoded: Bool
    /// The head to serve after a validation, without the stored `Age`. If the response is for anyone, it also omits
    /// `Set-Cookie`, because a cookie is for the client that received it.
    package let head: HTTPResponse
    /// The head to serve without a validation. It also omits the fields that `no-cache` names (§5.2.2.4).
    let unvalidatedHead: HTTPResponse

    /// True for an error, except 404 and 410, which show that the resource no longer exists.
    var isError: Bool { head.status.rawValue >= 400 && !head.status.replacesStored }

    init(
        _ head: HTTPResponse,
        method: HTTPMethod = .get,
        url: String,
        identity: String? = nil,
        requested: Date,
        received: Date,
        part: StoredPart? = nil,
        targets: [HTTPHeaderName] = []
    ) {
        isGet = method == .get
        self.identity = identity
        partVariant = part.map { ResourceValidator(of: head) == nil ? $0.variant : "" } ?? ""
        plainVariant = VaryField.plainVariant(identity) + partVariant
        self.part = part
        let headers = head.headers
        let receipt = received.timeIntervalSinceReferenceDate
        let sent = requested.timeIntervalSinceReferenceDate
        let targeted = ResponseDirectives(targets: targets, in: headers)
        let directives = targeted ?? ResponseDirectives(headers)
        let date = Self.date(in: headers, .date, now: received)?.timeIntervalSinceReferenceDate ?? receipt
        let modified = Self.date(in: headers, .lastModified, now: received)
        // A targeted field replaces `Expires` too (RFC 9213 §2.2).
        let explicitLifetime =
            targeted == nil ? Self.lifetime(directives, headers, date, now: received) : directives.maxAge
        self.directives = directives
        self.date = date
        self.received = receipt
        // The clock may change while a request is in progress, so neither term is negative.
        initialAge = DeltaSeconds.clamped(max(max(0, receipt - date), Self.age(in: headers) + max(0, receipt - sent)))
        self.explicitLifetime = explicitLifetime
        let isHeuristic =
            explicitLifetime == nil && (directives.isPublic || head.status.isHeuristicallyCacheable)
            && !url.utf8.contains(UInt8(ascii: "?"))
        timeSinceModification =
            isHeuristic ? modified.map { DeltaSeconds.clamped(date - $0.timeIntervalSinceReferenceDate) } : nil
        vary = VaryField(headers)
        entityTag = headers.contains(.eTag) ? EntityTag(of: head) : nil
        lastModified = modified
        isEncoded = headers.hasContentCoding
        var validated = head
        if headers.contains(.age) { validated.headers.remove(.age) }
        if identity == nil {
            for name in Self.cookieFields where headers.contains(name) { validated.headers.remove(name) }
        }
        self.head = validated
        for name in directives.noCacheFields { validated.headers.remove(name) }
        unvalidatedHead = validated
    }

    /// Parses the metadata of a stored response for a cache with targeted fields (RFC 9213 §2.2).
    convenience init(_ response: StoredResponse, targets: [HTTPHeaderName]) {
        self.init(
            response.head,
            method: response.method,
            url: response.url,
            identity: response.identity,
            requested: response.requested,
            received: response.received,
            part: response.part,
            targets: targets
        )
    }

    /// The fields that set cookies. `Set-Cookie2` is obsolete (RFC 6265 §9.3).
    static let cookieFields: [HTTPHeaderName] = [.setCookie, "Set-Cookie2"]

    /// Returns the secondary cache key for a request; nil if no other request can match.
    func variant(of request: HTTPRequest) -> String? {
        vary.variant(of: request, identity: identity).map { $0 + partVariant }
    }

    /// Returns the age in seconds (RFC 9111 §4.2.3: `current_age`). Returns ``DeltaSeconds/limit`` if the clock is
    /// earlier than the time of receipt, because the age is then unknown.
    func age(at now: Date) -> Double {
        let resident = now.timeIntervalSinceReferenceDate - received
        return resident >= 0 ? DeltaSeconds.clamped(initialAge + resident) : DeltaSeconds.limit
    }

    /// Returns the freshness lifetime by `max-age`, else by `Expires`; nil if neither is present. A value that cannot
    /// be parsed is 0.
    private static func lifetime(
        _ directives: ResponseDirectives,
        _ headers: HTTPHeaders,
        _ date: Double,
        now: Date
    ) -> Double? {
        if let maxAge = directives.maxAge { return maxAge }
        guard headers.contains(.expires) else { return nil }
        return headers.values(for: .expires).map { text in
            HTTPDate.parse(text, now: now).map { DeltaSeconds.clamped($0.timeIntervalSinceReferenceDate - date) } ?? 0
        }.min()
    }

    /// Returns the date of a field that has exactly one value.
    private static func date(in headers: HTTPHeaders, _ name: HTTPHeaderName, now: Date) -> Date? {
        guard headers.contains(name) else { return nil }
        let values = headers.values(for: name)
        return values.count == 1 ? HTTPDate.parse(values[0], now: now) : nil
    }

    /// Returns the first member of `Age`; 0 if it is not a number (RFC 9111 §5.1).
    private static func age(in headers: HTTPHeaders) -> Double {
        guard headers.contains(.age), let text = headers.values(for: .age).first else { return 0 }
        return DeltaSeconds.parse(text.utf8.prefix { $0 != UInt8(ascii: ",") }.trimmed) ?? 0
    }
}

extension HTTPStatus {
    /// True if the status is heuristically cacheable (RFC 9110 §15.1).
    var isHeuristicallyCacheable: Bool {
        switch rawValue {
        case 200, 203, 204, 206, 300, 301, 308, 404, 405, 410, 414, 501: true
        default: false
        }
    }
}

// MARK: - The stored form of a head

/// The stored form of a response head (RFC 9111 §3.1, §3.2).
enum StoredHead {
    /// The fields that concern a single connection or proxy, and `Trailer`, because trailer sections are not stored.
    private static let connectionFields: [HTTPHeaderName] = [
        .connection, "Keep-Alive", "Proxy-Authenticate", "Proxy-Authentication-Info", .proxyAuthorization,
        "Proxy-Connection", "TE",
        "Trailer", .transferEncoding, "Upgrade",
    ]

    /// The fields that control reuse of the response. `Connection` cannot remove them.
    private static let reuseFields: [HTTPHeaderName] =
        bodyFields + [.age, .cacheControl, .date, .eTag, .expires, .lastModified, .vary]

    /// The fields that describe the stored bytes. An update must not change them.
    ///
    /// `Content-Type` is among them because servers add a default one to a 304, where it describes nothing (RFC 9110
    /// §15.4.5).
    private static let bodyFields: [HTTPHeaderName] =
        [.contentEncoding, .contentLength, .contentRange, .contentType] + HTTPHeaderName.contentDigests

    /// True if a stored response cannot be reused correctly without a field of this name.
    static func isNeeded(_ name: HTTPHeaderName) -> Bool { reuseFields.contains(name) || name == .location }

    /// Returns the head without the fields that are not stored, and with a `Date` (RFC 9110 §6.6.1).
    ///
    /// - Parameters:
    ///   - head: The head as received.
    ///   - received: The time at which it was received.
    ///   - targets: The names of targeted fields, which control reuse too.
    /// - Returns: The head to store.
    static func storable(_ head: HTTPResponse, received: Date, targets: [HTTPHeaderName] = []) -> HTTPResponse {
        var stored = head
        // `Connection: Cache-Control` is an error (RFC 9110 §7.6.1) that would lift restrictions on reuse.
        let named = head.headers.connectionOptions.map { HTTPHeaderName($0) }
        let removed = named.filter { !reuseFields.contains($0) && !targets.contains($0) }
        for name in connectionFields + removed { stored.headers.remove(name) }
        let dates = head.headers.values(for: .date)
        if dates.count != 1 || HTTPDate.parse(dates[0], now: received) == nil {
            stored.headers[.date] = HTTPDate.string(from: received)
        }
        return stored
    }

    /// Returns a stored head updated with the fields of a newer one (RFC 9111 §3.2).
    ///
    /// - Parameters:
    ///   - stored: The stored head.
    ///   - newer: The head of a 304, of a response to HEAD, or of a part of the same version.
    ///   - received: The time at which the newer head was received.
    ///   - targets: The names of targeted fields.
    /// - Returns: The stored status with the fields of both heads. `Age` and `Date` come from the newer head only.
    static func updated(
        _ stored: HTTPResponse,
        with newer: HTTPResponse,
        received: Date,
        targets: [HTTPHeaderName] = []
    ) -> HTTPResponse {
        var updated = stored
        updated.version = newer.version
        updated.headers.remove(.age)
        let fields = storable(newer, received: received, targets: targets).headers.filter {
            !bodyFields.contains($0.name)
        }
        for name in Set(fields.map(\.name)) { updated.headers.remove(name) }
        for field in fields { updated.headers.append(field) }
        return updated
    }
}

extension HTTPHeaderName {
    /// The digests of the bytes in a message (RFC 9530 §2, RFC 1864). `Repr-Digest` is that of the representation.
    fileprivate static let contentDigests: [HTTPHeaderName] = ["Content-Digest", "Content-MD5"]
}

extension HTTPResponse {
    /// Removes the digests of bytes that the message does not have.
    mutating func removeContentDigests() {
        for name in HTTPHeaderName.contentDigests { headers.remove(name) }
    }
}
