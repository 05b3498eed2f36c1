import SluiceHTTP

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// An answer out of what is stored.
struct CacheServing: Sendable {
    /// What of a stored response answers the request.
    enum Form: Sendable, Hashable {
        /// All of it.
        case whole
        /// Its head, for a HEAD.
        case head
        /// 304, since the request has it already (RFC 9111 §4.3.2).
        case notModified
        /// 206 with these bytes of a representation of so many (RFC 9110 §15.3.7).
        case part(Range<Int64>, total: Int64)
        /// 416, since it has no such bytes but only so many (RFC 9110 §15.5.17).
        case unsatisfiable(total: Int64)
    }

    /// Whose body it is.
    let entry: CacheEntry
    /// Whose head it is: the entry's, or that as a 304 updated it.
    let response: ResponseTerms
    let form: Form
    /// How old it is, in seconds (RFC 9111 §4.2.3).
    let age: Int
    /// Whether its lifetime is over.
    let isStale: Bool
    /// Whether the server has just confirmed it.
    let isRevalidated: Bool
    let status: CacheStatus

    /// Whether no body goes with the head.
    var isBodiless: Bool {
        switch form {
        case .whole, .part: false
        case .head, .notModified, .unsatisfiable: true
        }
    }

    /// Which bytes of the stored body go with the head, counted from its first; nil for all.
    var range: Range<Int>? {
        switch form {
        case .whole: return nil
        case .head, .notModified, .unsatisfiable: return 0..<0
        case .part(let range, _):
            let offset = response.part?.range.lowerBound ?? 0
            let count = Int64(entry.body.count)
            let first = min(max(range.lowerBound - offset, 0), count)
            return Int(first)..<Int(min(max(range.upperBound - offset, first), count))
        }
    }

    /// The bytes that go with the head.
    var body: Data {
        guard let range else { return entry.body }
        let start = entry.body.startIndex
        return entry.body[start + range.lowerBound..<start + range.upperBound]
    }

    /// The head to give: what is stored with `Age` (RFC 9111 §5.1) and `Cache-Status` (RFC 9211).
    var head: HTTPResponse {
        var head = isRevalidated ? response.head : response.unvalidatedHead
        switch form {
        case .whole, .head: break
        case .notModified:
            head.status = .notModified
            // What speaks of content that does not come (RFC 9110 §15.4.5).
            for name in HTTPHeaderName.contentFields { head.headers.remove(name) }
            if head.headers.contains(.eTag) { head.headers.remove(.lastModified) }
        case .part(let range, let total):
            head.status = .partialContent
            head.headers[.contentRange] = "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(total)"
            head.headers[.contentLength] = "\(range.upperBound - range.lowerBound)"
        case .unsatisfiable(let total):
            head.status = 416
            for name in HTTPHeaderName.contentFields { head.headers.remove(name) }
            head.headers[.contentRange] = "bytes */\(total)"
            head.headers[.contentLength] = "0"
        }
        head.headers.append(.age, String(age))
        head.headers.append(.cacheStatus, status.text)
        return head
    }
}
