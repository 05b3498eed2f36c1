import SluiceHTTP

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// What a request asks of a cache.
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

    /// What of a stored response answers it, as far as validity is concerned in none but the precedence of conditions (RFC 9110
    /// §13.2.2); nil where it does not.
    func form(of entry: CacheEntry, _ stored: ResponseTerms) -> CacheServing.Form? {
        if stored.part == nil, fields.isDisjoint(with: [.ownConditions, .originConditions, .range]) {
            return request.method == .head ? .head : .whole
        }
        // Only the server can evaluate the one kind (RFC 9111 §4.3.2); a part that is not all there answers nothing.
        if !fields.isDisjoint(with: .originConditions) || stored.part?.isWhole(in: entry) == false { return nil }
        // Conditions count where the answer would be 2xx without them (§13.2.1).
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

    /// Whether the request's own conditions say that it has what is stored (RFC 9111 §4.3.2).
    private func isNotModified(_ terms: ResponseTerms) -> Bool {
        if fields.contains(.ifNoneMatch) {
            let tags = EntityTagList(request.headers.fieldValues(for: .ifNoneMatch))
            return tags.isAny || terms.entityTag.map { tag in tags.tags.contains { $0.opaque == tag.opaque } } ?? false
        }
        guard fields.contains(.ifModifiedSince) else { return false }
        let values = request.headers.values(for: .ifModifiedSince)
        // Two-digit years are read by the time the response came, which is near enough.
        let came = Date(timeIntervalSinceReferenceDate: terms.received)
        guard values.count == 1, let date = HTTPDate.parse(values[0], now: came) else { return false }
        return (terms.lastModified?.timeIntervalSinceReferenceDate ?? terms.date) <= date.timeIntervalSinceReferenceDate
    }

    /// Whether what is stored is what the request has a part of, by the strong comparison (RFC 9110 §13.1.5).
    private func ifRangeHolds(_ stored: ResponseTerms) -> Bool {
        let values = request.headers.fieldValues(for: .ifRange)
        guard values.count == 1 else { return false }
        let value = FieldValue(bytes: values[0].bytes[...].trimmingListSpace)
        if let tag = EntityTag(value) { return !tag.isWeak && stored.entityTag == tag }
        guard let modified = stored.lastModified,
            let date = HTTPDate.parse(value.text, now: Date(timeIntervalSinceReferenceDate: stored.received))
        else { return false }
        // Strong only if a change within the same second can be ruled out (§8.8.2.2).
        let age = stored.date - modified.timeIntervalSinceReferenceDate
        return date == modified && age >= 60 && stored.head.headers.contains(.date)
    }
}

/// The members of an `If-None-Match` (RFC 9110 §13.1.2); what is no entity tag matches none.
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
                // A comma may be in the quotes; a backslash escapes nothing there (§8.8.3).
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
