import SluiceHTTP

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A request with its cache-related header fields parsed.
struct CacheQuestion: Sendable {
    let request: HTTPRequest
    let fields: CacheFields
    let directives: RequestDirectives

    init(_ request: HTTPRequest) {
        self.request = request
        fields = CacheFields(request.headers)
        directives =
            fields.isDisjoint(with: [.cacheControl, .pragma]) ? Self.noDirectives : RequestDirectives(request.headers)
    }

    private static let noDirectives = RequestDirectives()

    /// Returns the form in which a stored response satisfies the request; nil if it does not. Freshness is not
    /// considered; the precedence of conditions is that of RFC 9110 §13.2.2.
    func form(of entry: CacheEntry, _ stored: ResponseTerms) -> CacheServing.Form? {
        if stored.part == nil, fields.isDisjoint(with: [.ownConditions, .originConditions, .range]) {
            return request.method == .head ? .head : .whole
        }
        // Only the origin server can evaluate these conditions (RFC 9111 §4.3.2). An incomplete stored part satisfies
        // no request.
        if !fields.isDisjoint(with: .originConditions) || stored.part?.isWhole(in: entry) == false { return nil }
        // Conditions apply only if the response would be 2xx without them (§13.2.1).
        if stored.head.status.isSuccess, isNotModified(stored) { return .notModified }
        if request.method == .head { return stored.part == nil ? .head : nil }
        if fields.contains(.range), stored.part != nil || stored.head.status == .ok {
            if fields.contains(.ifRange), !ifRangeHolds(stored) { return stored.part == nil ? .whole : nil }
            return rangeForm(of: entry, stored)
        }
        return stored.part == nil ? .whole : nil
    }

    private func rangeForm(of entry: CacheEntry, _ stored: ResponseTerms) -> CacheServing.Form? {
        let values = request.headers.values(for: .range)
        guard !stored.isEncoded, values.count == 1, let range = ByteRangeRequest(values[0]) else { return nil }
        let total = stored.part?.total ?? Int64(entry.body.count)
        switch range.extent(of: total) {
        case .bytes(let bytes):
            if let part = stored.part, part.range.clamped(to: bytes) != bytes { return nil }
            return .part(bytes, total: total)
        case .unsatisfiable:
            return stored.part == nil ? .unsatisfiable(total: total) : nil
        case .everything:
            return stored.part == nil ? .whole : nil
        }
    }

    /// Evaluates the conditions of the request against the stored response (RFC 9111 §4.3.2). Returns true if the
    /// answer is 304.
    private func isNotModified(_ terms: ResponseTerms) -> Bool {
        if fields.contains(.ifNoneMatch) {
            let tags = EntityTagList(request.headers.fieldValues(for: .ifNoneMatch))
            return tags.isAny || terms.entityTag.map { tag in tags.tags.contains { $0.opaque == tag.opaque } } ?? false
        }
        guard fields.contains(.ifModifiedSince) else { return false }
        let values = request.headers.values(for: .ifModifiedSince)
        // Two-digit years are resolved with the time at which the stored response was received, which is accurate
        // enough.
        let came = Date(timeIntervalSinceReferenceDate: terms.received)
        guard values.count == 1, let date = HTTPDate.parse(values[0], now: came) else { return false }
        return (terms.lastModified?.timeIntervalSinceReferenceDate ?? terms.date) <= date.timeIntervalSinceReferenceDate
    }

    /// Evaluates `If-Range` against the stored response by strong comparison (RFC 9110 §13.1.5).
    private func ifRangeHolds(_ stored: ResponseTerms) -> Bool {
        let values = request.headers.fieldValues(for: .ifRange)
        guard values.count == 1 else { return false }
        let value = FieldValue(bytes: values[0].bytes[...].trimmingListSpace)
        if let tag = EntityTag(value) { return !tag.isWeak && stored.entityTag == tag }
        guard let modified = stored.lastModified,
            let date = HTTPDate.parse(value.text, now: Date(timeIntervalSinceReferenceDate: stored.received))
        else { return false }
        // A date is a strong validator only if a second change within the same second is ruled out (§8.8.2.2).
        let age = stored.date - modified.timeIntervalSinceReferenceDate
        return date == modified && age >= 60 && stored.head.headers.contains(.date)
    }
}

/// The members of `If-None-Match` (RFC 9110 §13.1.2). A member that is not an entity tag matches nothing.
struct EntityTagList: Sendable {
    let isAny: Bool
    let tags: [EntityTag]

    init(_ lines: [FieldValue]) {
        isAny = lines.count == 1 && lines[0].bytes[...].trimmingListSpace.elementsEqual("*".utf8)
        var tags: [EntityTag] = []
        for line in lines {
            var rest = line.bytes[...]
            while true {
                rest = rest.drop { $0.isListSpace || $0 == UInt8(ascii: ",") }
                if rest.isEmpty { break }
                // Quotes may contain a comma, and a backslash escapes nothing in an entity tag (§8.8.3).
                var isQuoted = false
                let member = rest.prefix { byte in
                    if byte == UInt8(ascii: "\"") { isQuoted.toggle() }
                    return isQuoted || byte != UInt8(ascii: ",")
                }
                rest = rest[member.endIndex...]
                if let tag = EntityTag(FieldValue(bytes: member.trimmingListSpace)) { tags.append(tag) }
            }
        }
        self.tags = tags
    }
}
