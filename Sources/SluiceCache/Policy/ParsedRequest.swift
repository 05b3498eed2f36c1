import SluiceFoundation
import SluiceHTTP

/// A request with its cache-related header fields parsed.
struct ParsedRequest: Sendable {
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
    func form(of entry: CacheEntry, _ metadata: CacheMetadata) -> ServableResponse.Form? {
        if metadata.part == nil, fields.isDisjoint(with: [.ownConditions, .originConditions, .range]) {
            return request.method == .head ? .head : .whole
        }
        // Only the origin server can evaluate these conditions (RFC 9111 §4.3.2). An incomplete stored part satisfies
        // no request.
        if !fields.isDisjoint(with: .originConditions) || metadata.part?.isWhole(in: entry) == false { return nil }
        // Conditions apply only if the response would be 2xx without them (§13.2.1).
        if metadata.head.status.isSuccess, isNotModified(metadata) { return .notModified }
        if request.method == .head { return metadata.part == nil ? .head : nil }
        if fields.contains(.range), metadata.part != nil || metadata.head.status == .ok {
            if fields.contains(.ifRange), !ifRangeHolds(metadata) { return metadata.part == nil ? .whole : nil }
            return rangeForm(of: entry, metadata)
        }
        return metadata.part == nil ? .whole : nil
    }

    private func rangeForm(of entry: CacheEntry, _ metadata: CacheMetadata) -> ServableResponse.Form? {
        let values = request.headers.values(for: .range)
        guard !metadata.isEncoded, values.count == 1,
            let range = ByteRangeRequest(String(Substring(values[0].utf8[...].trimmed)))
        else { return nil }
        let total = metadata.part?.total ?? Int64(entry.body.count)
        switch range.extent(of: total) {
        case .bytes(let bytes):
            if let part = metadata.part, part.range.clamped(to: bytes) != bytes { return nil }
            return .part(bytes, total: total)
        case .unsatisfiable:
            return metadata.part == nil ? .unsatisfiable(total: total) : nil
        case .everything:
            return metadata.part == nil ? .whole : nil
        }
    }

    /// Evaluates the conditions of the request against the stored response (RFC 9111 §4.3.2). Returns true if the
    /// answer is 304.
    private func isNotModified(_ metadata: CacheMetadata) -> Bool {
        if fields.contains(.ifNoneMatch) {
            let tags = EntityTagList(request.headers.fieldValues(for: .ifNoneMatch))
            return tags.isAny
                || metadata.entityTag.map { tag in tags.tags.contains { $0.opaque == tag.opaque } } ?? false
        }
        guard fields.contains(.ifModifiedSince) else { return false }
        let values = request.headers.values(for: .ifModifiedSince)
        // Two-digit years are resolved with the time at which the stored response was received, which is accurate
        // enough.
        let receipt = Date(timeIntervalSinceReferenceDate: metadata.received)
        guard values.count == 1, let date = HTTPDate.parse(values[0], now: receipt) else { return false }
        return (metadata.lastModified?.timeIntervalSinceReferenceDate ?? metadata.date)
            <= date.timeIntervalSinceReferenceDate
    }

    /// Evaluates `If-Range` against the stored response by strong comparison: its bytes must be those of the validator
    /// (RFC 9110 §13.1.5).
    private func ifRangeHolds(_ metadata: CacheMetadata) -> Bool {
        let values = request.headers.fieldValues(for: .ifRange)
        guard values.count == 1 else { return false }
        let value = FieldValue(bytes: values[0].bytes[...].trimmed)
        if let tag = EntityTag(value) { return !tag.isWeak && metadata.entityTag == tag }
        guard let modified = metadata.lastModified else { return false }
        // A date is a strong validator only if a second change within the same second is ruled out (§8.8.2.2).
        let age = metadata.date - modified.timeIntervalSinceReferenceDate
        return age >= 60 && metadata.head.headers.contains(.date)
            && metadata.head.headers.fieldValues(for: .lastModified) == [value]
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
    /// All conditions (RFC 9110 §13.1).
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

// MARK: - Entity tags

/// The members of `If-None-Match` (RFC 9110 §13.1.2). A member that is not an entity tag matches nothing.
struct EntityTagList: Sendable {
    let isAny: Bool
    let tags: [EntityTag]

    init(_ lines: [FieldValue]) {
        isAny = lines.count == 1 && lines[0].bytes[...].trimmed.elementsEqual("*".utf8)
        tags = lines.flatMap { line in
            FieldElements(line.bytes[...], quotes: .literal).compactMap { EntityTag(FieldValue(bytes: $0)) }
        }
    }
}
