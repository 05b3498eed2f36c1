import SluiceHTTP

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// What tells one state of a resource from another (RFC 9110 §8.8), and the preconditions that ask for it (§13).
struct ResourceValidators {
    let eTag: String?
    let lastModified: Date?

    /// What the preconditions of a GET or HEAD make of it.
    enum Verdict: Equatable {
        case proceed
        case notModified
        case failed
    }

    /// Weighs the preconditions in the order of §13.2.2.
    func verdict(on headers: HTTPHeaders) -> Verdict {
        if let tags = headers["If-Match"] {
            if !isNamed(in: tags, isWeakEnough: false) { return .failed }
        } else if let date = date(headers["If-Unmodified-Since"]), let modified, modified > date {
            return .failed
        }
        if let tags = headers["If-None-Match"] {
            return isNamed(in: tags, isWeakEnough: true) ? .notModified : .proceed
        }
        if let date = date(headers["If-Modified-Since"]), let modified, modified <= date { return .notModified }
        return .proceed
    }

    /// Whether a part may be sent for an `If-Range` (§13.1.5): a strong entity tag that is the same byte for byte, or
    /// the very date; true where there is no field.
    func allowRange(_ ifRange: String?) -> Bool {
        guard let ifRange else { return true }
        if let date = date(ifRange) { return date == modified }
        return isStrong(ifRange) && ifRange == eTag
    }

    /// As a field can say it: without fractions of a second.
    private var modified: Date? {
        lastModified.flatMap { HTTPDate.parse(HTTPDate.string(from: $0)) }
    }

    private func date(_ field: String?) -> Date? {
        field.flatMap { HTTPDate.parse($0) }
    }

    /// Whether a list of entity tags has this one; tags with a comma in them are beyond what a test server needs.
    private func isNamed(in list: String, isWeakEnough: Bool) -> Bool {
        guard list != "*" else { return true }
        guard let eTag else { return false }
        let tags = list.split(separator: ",").map { $0.trimmingPrefix { $0 == " " || $0 == "\t" } }
            .map { String($0.prefix { $0 != " " && $0 != "\t" }) }
        guard isWeakEnough else { return isStrong(eTag) && tags.contains(eTag) }
        return tags.contains { opaque($0) == opaque(eTag) }
    }

    private func isStrong(_ tag: String) -> Bool {
        tag.hasPrefix("\"")
    }

    private func opaque(_ tag: String) -> Substring {
        tag.hasPrefix("W/") ? tag.dropFirst(2) : tag[...]
    }
}
