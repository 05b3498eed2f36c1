import SluiceHTTP

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The terms on which a stored response may be used again, read once so that a hit reads nothing.
///
/// Times are seconds since the reference date of `Date`, ages and lifetimes are seconds.
final class ResponseTerms: Sendable {
    /// Whether it answers a GET.
    let isGet: Bool
    /// Whose it is: ``StoredResponse/identity``.
    let identity: String?
    /// The variant it is kept under where it varies by nothing.
    let plainVariant: String
    /// Which part of the representation the body is; nil for all of it.
    let part: StoredPart?
    let directives: ResponseDirectives
    /// When the server says it made it; when it came, where it does not say (RFC 9110 §6.6.1).
    let date: Double
    let received: Double
    /// How old it was when it came (RFC 9111 §4.2.3: `corrected_initial_age`).
    let initialAge: Double
    /// Its lifetime by `max-age` or `Expires` (§4.2.1); nil where it has neither.
    let explicitLifetime: Double?
    /// How long it had been unchanged when it was made; nil where no lifetime may be made of that (§4.2.2).
    let unchanged: Double?
    let vary: VaryField
    /// Its entity tag, if it has one that is well-formed.
    let entityTag: EntityTag?
    /// Its date of last modification, if it has one that is well-formed.
    let lastModified: Date?
    /// Whether the body is stored decoded, so that ranges of it are none of the representation's.
    let isEncoded: Bool
    /// The head to give after a validation: without `Age`, which is told anew.
    let head: HTTPResponse
    /// The head to give without a validation: without the fields of `no-cache` too (§5.2.2.4).
    let unvalidatedHead: HTTPResponse

    init(
        _ head: HTTPResponse,
        method: HTTPMethod = .get,
        url: String,
        identity: String? = nil,
        requested: Date,
        received: Date,
        part: StoredPart? = nil
    ) {
        isGet = method == .get
        self.identity = identity
        plainVariant = VaryField.plainVariant(identity)
        self.part = part
        let headers = head.headers
        let came = received.timeIntervalSinceReferenceDate
        let sent = requested.timeIntervalSinceReferenceDate
        let directives = ResponseDirectives(headers)
        let date = Self.date(in: headers, .date, now: received)?.timeIntervalSinceReferenceDate ?? came
        let modified = Self.date(in: headers, .lastModified, now: received)
        let explicitLifetime = Self.lifetime(directives, headers, date, now: received)
        self.directives = directives
        self.date = date
        self.received = came
        // Clocks may jump while a request is under way: neither term is less than zero.
        initialAge = DeltaSeconds.clamped(max(max(0, came - date), Self.age(in: headers) + max(0, came - sent)))
        self.explicitLifetime = explicitLifetime
        let isHeuristic =
            explicitLifetime == nil && (directives.isPublic || head.status.isHeuristicallyCacheable)
            && !url.utf8.contains(UInt8(ascii: "?"))
        unchanged = isHeuristic ? modified.map { DeltaSeconds.clamped(date - $0.timeIntervalSinceReferenceDate) } : nil
        vary = VaryField(headers)
        entityTag = headers.contains(.eTag) ? EntityTag(of: head) : nil
        lastModified = modified
        isEncoded = headers.hasContentCoding
        var validated = head
        if headers.contains(.age) { validated.headers.remove(.age) }
        self.head = validated
        for name in directives.noCacheFields { validated.headers.remove(name) }
        unvalidatedHead = validated
    }

    /// Its age (RFC 9111 §4.2.3: `current_age`); the greatest there is where the clock is behind that by which it came, since
    /// nobody can tell then.
    func age(at now: Date) -> Double {
        let resident = now.timeIntervalSinceReferenceDate - received
        return resident >= 0 ? DeltaSeconds.clamped(initialAge + resident) : DeltaSeconds.limit
    }

    /// The lifetime by `max-age`, else by `Expires`; nil where neither is there. What cannot be read is over already.
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

    /// The date of a field that has one value.
    private static func date(in headers: HTTPHeaders, _ name: HTTPHeaderName, now: Date) -> Date? {
        guard headers.contains(name) else { return nil }
        let values = headers.values(for: name)
        return values.count == 1 ? HTTPDate.parse(values[0], now: now) : nil
    }

    /// The first member of `Age`; 0 for what is no number (RFC 9111 §5.1).
    private static func age(in headers: HTTPHeaders) -> Double {
        guard headers.contains(.age), let text = headers.values(for: .age).first else { return 0 }
        let first = text.utf8.prefix { $0 != UInt8(ascii: ",") }
        return DeltaSeconds.parse(first.trimmingListSpace) ?? 0
    }
}

extension HTTPHeaders {
    /// Whether content is encoded, other than by `identity`, which is none (RFC 9110 §8.4.1, §12.5.3).
    var hasContentCoding: Bool {
        guard contains(.contentEncoding) else { return false }
        return values(for: .contentEncoding).contains { line in
            line.utf8.split(separator: UInt8(ascii: ",")).contains { member in
                let coding = member.trimmingListSpace
                return !coding.isEmpty && Substring(coding).lowercased() != "identity"
            }
        }
    }
}

extension HTTPStatus {
    /// Whether it may be reused without being told to (RFC 9110 §15.1).
    var isHeuristicallyCacheable: Bool {
        switch rawValue {
        case 200, 203, 204, 206, 300, 301, 308, 404, 405, 410, 414, 501: true
        default: false
        }
    }
}
