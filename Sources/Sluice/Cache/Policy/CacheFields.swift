import SluiceHTTP

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
