import SluiceFoundation

/// A strong validator, which distinguishes versions of a resource byte for byte (RFC 9110 §8.8.1).
package enum ResourceValidator: Sendable, Hashable, Codable {
    /// A strong entity tag, including its quotes.
    case entityTag(FieldValue)
    /// The value of a `Last-Modified` field that is strong.
    case lastModified(String)

    /// The strong validator of a response; nil if it has none.
    ///
    /// A `Last-Modified` date is used only if the response has no entity tag, not even a weak one (RFC 9110 §13.1.5).
    /// It is strong if the `Date` field is at least 60 seconds later: the resource can then not have changed again in
    /// the same second (§8.8.2.2).
    package init?(of head: HTTPResponse) {
        if let tag = EntityTag(of: head) {
            guard !tag.isWeak, !tag.isEmpty else { return nil }
            self = .entityTag(tag.opaque)
            return
        }
        guard let text = head.headers.values(for: .lastModified).only, let modified = HTTPDate.parse(text),
            let date = head.headers.values(for: .date).only.flatMap({ HTTPDate.parse($0) }),
            date.timeIntervalSince(modified) >= 60
        else { return nil }
        self = .lastModified(text)
    }

    /// The value of an `If-Range` field (RFC 9110 §13.1.5).
    package var ifRangeValue: FieldValue {
        switch self {
        case .entityTag(let tag): tag
        case .lastModified(let date): FieldValue(date)
        }
    }

    /// Compares this validator with a later response, by the strong comparison (RFC 9110 §8.8.3.2). Validators that
    /// differ in any byte belong to different versions, even if both are the same date in two formats (§13.1.5).
    ///
    /// - Parameter head: The head of the response.
    /// - Returns: True if the response is of the same version. Nil if it has no `Last-Modified` field to compare a date
    ///   with, as is allowed for a 206 response to an `If-Range` with a date. A response to an entity tag must have one
    ///   (§15.3.7), so a missing entity tag means another version.
    package func matches(_ head: HTTPResponse) -> Bool? {
        switch self {
        case .entityTag(let tag):
            return EntityTag(of: head).map { !$0.isWeak && $0.opaque == tag } ?? false
        case .lastModified(let date):
            let lines = head.headers.fieldValues(for: .lastModified)
            return lines.isEmpty ? nil : lines == [FieldValue(date)]
        }
    }
}

/// The entity tag of a response (RFC 9110 §8.8.3).
package struct EntityTag: Sendable, Hashable {
    package let isWeak: Bool
    /// The tag with its quotes, without `W/`. It may contain any bytes, because it is opaque (RFC 9110 §8.8.3).
    package let opaque: FieldValue

    /// Nil if the response has no entity tag, several, or an invalid one.
    package init?(of head: HTTPResponse) {
        guard let value = head.headers.fieldValues(for: .eTag).only else { return nil }
        self.init(value)
    }

    /// Nil if the value is not an entity tag.
    package init?(_ value: FieldValue) {
        isWeak = value.bytes.starts(with: "W/".utf8)
        opaque = isWeak ? FieldValue(bytes: value.bytes.dropFirst(2)) : value
        let bytes = opaque.bytes
        guard bytes.count >= 2, bytes.first == UInt8(ascii: "\""), bytes.last == UInt8(ascii: "\""),
            bytes.dropFirst().dropLast().allSatisfy({ $0 == 0x21 || $0 >= 0x23 && $0 != 0x7F })
        else { return nil }
    }

    package var isEmpty: Bool { opaque.bytes.count == 2 }

    /// The tag as a field value, with `W/` if it is weak.
    package var fieldValue: FieldValue { isWeak ? FieldValue(bytes: Array("W/".utf8) + opaque.bytes) : opaque }
}

extension Array {
    /// The only element; nil if there are none or several.
    fileprivate var only: Element? { count == 1 ? first : nil }
}
