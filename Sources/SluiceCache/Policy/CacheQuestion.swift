import SluiceFoundation
import SluiceHTTP

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
    func form(of entry: CacheEntry, _ stored: ResponseTerms) -> ServableResponse.Form? {
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

    private func rangeForm(of entry: CacheEntry, _ stored: ResponseTerms) -> ServableResponse.Form? {
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

// MARK: - Header fields

/// The request header fields that affect caching. One pass over the headers finds them all, because most requests have
/// none.
struct CacheFields: OptionSet, Sendable {
    let rawValue: UInt8

    static let cacheControl = CacheFields(rawValue: 1)
    static let pragma = CacheFields(rawValue: 2)
    static let range = CacheFields(rawValue: 4)
    static let ifRange = CacheFields(rawValue: 8)
    static let ifNoneMatch = CacheFields(rawValue: 16)
    static let ifModifiedSince = CacheFields(rawValue: 32)
    static let ifMatch = CacheFields(rawValue: 64)
    static let ifUnmodifiedSince = CacheFields(rawValue: 128)

    /// The conditions that a cache evaluates (RFC 9110 §13.2.2, steps 3 and 4).
    static let ownConditions: CacheFields = [.ifNoneMatch, .ifModifiedSince]
    /// The conditions that only the origin server can evaluate (RFC 9111 §4.3.2).
    static let originConditions: CacheFields = [.ifMatch, .ifUnmodifiedSince]
    static let conditions: CacheFields = [.ifNoneMatch, .ifModifiedSince, .ifMatch, .ifUnmodifiedSince, .ifRange]

    init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    init(_ headers: HTTPHeaders) {
        var found: CacheFields = []
        let bytes = headers.bytes
        bytes.withUnsafeBytes { bytes in
            for index in 0..<headers.count {
                let line = headers.line(at: index)
                // The shortest name has 5 bytes, and all names begin with one of these letters.
                guard line.nameLength >= 5, let first = bytes[line.offset...].first else { continue }
                switch first | 0x20 {
                case UInt8(ascii: "c"), UInt8(ascii: "i"), UInt8(ascii: "p"), UInt8(ascii: "r"): break
                default: continue
                }
                let end = line.offset + line.nameLength
                guard end <= bytes.count else { continue }
                found.formUnion(Self.field(named: UnsafeRawBufferPointer(rebasing: bytes[line.offset..<end])))
            }
        }
        self = found
    }

    private static func field(named name: UnsafeRawBufferPointer) -> CacheFields {
        switch name.count {
        case 5: return isEqual(name, "range") ? .range : []
        case 6: return isEqual(name, "pragma") ? .pragma : []
        case 8: return isEqual(name, "if-range") ? .ifRange : isEqual(name, "if-match") ? .ifMatch : []
        case 13:
            return isEqual(name, "cache-control") ? .cacheControl : isEqual(name, "if-none-match") ? .ifNoneMatch : []
        case 17: return isEqual(name, "if-modified-since") ? .ifModifiedSince : []
        case 19: return isEqual(name, "if-unmodified-since") ? .ifUnmodifiedSince : []
        default: return []
        }
    }

    private static func isEqual(_ name: UnsafeRawBufferPointer, _ text: StaticString) -> Bool {
        text.withUTF8Buffer { text in name.elementsEqual(text) { $0.asciiLowercased == $1 } }
    }
}

// MARK: - Entity tags and ranges

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

/// The single byte range of a `Range` field (RFC 9110 §14.1.2).
enum ByteRangeRequest: Sendable, Hashable {
    /// The bytes between two positions, both included; up to the end of the representation if the second one is
    /// missing.
    case from(Int64, through: Int64?)
    /// The given number of bytes at the end of the representation.
    case suffix(Int64)

    /// The bytes of a representation that a range selects.
    enum Extent: Sendable, Hashable {
        case bytes(Range<Int64>)
        /// The range selects no byte of the representation.
        case unsatisfiable
        /// The entire representation, because a 206 cannot express the range: a suffix range of an empty
        /// representation.
        case everything
    }

    /// Parses the field value. Returns nil for other units, for several ranges and for malformed values, which are left
    /// to the server.
    init?(_ text: String) {
        let bytes = text.utf8[...].trimmingListSpace
        guard let equals = bytes.firstIndex(of: UInt8(ascii: "=")),
            bytes[..<equals].elementsEqual("bytes".utf8, by: { $0.asciiLowercased == $1 })
        else { return nil }
        // A list may have empty members (§5.6.1.2).
        let members = bytes[equals...].dropFirst().split(separator: UInt8(ascii: ",")).map(\.trimmingListSpace)
            .filter { !$0.isEmpty }
        guard members.count == 1, let member = members.first, let dash = member.firstIndex(of: UInt8(ascii: "-")) else {
            return nil
        }
        let first = member[..<dash]
        let last = member[dash...].dropFirst()
        if first.isEmpty {
            guard let count = Self.number(last) else { return nil }
            self = .suffix(count)
            return
        }
        guard let first = Self.number(first) else { return nil }
        if last.isEmpty {
            self = .from(first, through: nil)
            return
        }
        guard let last = Self.number(last), first <= last else { return nil }
        self = .from(first, through: last)
    }

    /// Returns the bytes that the range selects in a representation of `total` bytes.
    func extent(of total: Int64) -> Extent {
        switch self {
        case .from(let first, let last):
            guard first < total else { return .unsatisfiable }
            return .bytes(first..<min(last ?? .max, total - 1) + 1)
        case .suffix(0):
            return .unsatisfiable
        case .suffix(let count):
            return total > 0 ? .bytes(max(0, total - count)..<total) : .everything
        }
    }

    /// Parses a number that consists of digits only; `Int64.max` if it overflows.
    private static func number(_ digits: Substring.UTF8View) -> Int64? {
        guard !digits.isEmpty, digits.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) else {
            return nil
        }
        return Int64(Substring(digits)) ?? .max
    }
}
