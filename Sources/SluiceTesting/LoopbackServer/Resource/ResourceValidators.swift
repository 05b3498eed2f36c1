import SluiceHTTP

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The validators of a resource (RFC 9110 §8.8) and the evaluation of preconditions (§13).
struct ResourceValidators {
    let eTag: String?
    let lastModified: Date?

    /// The result of the preconditions of a GET or HEAD request.
    enum Verdict: Equatable {
        case proceed
        case notModified
        case failed
    }

    /// Evaluates the preconditions in the order of §13.2.2.
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

    /// Returns true if a part may be sent for an `If-Range` field (§13.1.5).
    ///
    /// The field must be the same strong entity tag, or exactly the modification date. True if there is no field.
    func allowRange(_ ifRange: String?) -> Bool {
        guard let ifRange else { return true }
        if let date = date(ifRange) { return date == modified }
        return isStrong(ifRange) && ifRange == eTag
    }

    /// The modification date in whole seconds, as a header field represents it.
    private var modified: Date? {
        lastModified.flatMap { HTTPDate.parse(HTTPDate.string(from: $0)) }
    }

    private func date(_ field: String?) -> Date? {
        field.flatMap { HTTPDate.parse($0) }
    }

    /// Returns true if a list contains the entity tag. Tags that contain a comma are not supported.
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
