import Sluice
import SluiceFoundation
import SluiceHTTP

/// A property in which a request must match a recorded request to receive its response.
///
/// The default criteria are the method and the URL. Name others where they matter: `[.method, .url, .body]`.
public struct CassetteCriterion: Sendable {
    /// The name of the compared property.
    let name: String
    /// Returns true if the two requests match.
    let isMatch: @Sendable (_ recorded: RecordedRequest, _ request: RecordedRequest) -> Bool

    private init(_ name: String, _ isMatch: @escaping @Sendable (RecordedRequest, RecordedRequest) -> Bool) {
        self.name = name
        self.isMatch = isMatch
    }

    /// Matches requests with the same method.
    public static let method = CassetteCriterion("method") { $0.method == $1.method }
    /// Matches requests with exactly the same URL, including the query.
    public static let url = CassetteCriterion("url") { $0.url == $1.url }
    /// Matches requests with the same host and port.
    public static let host = CassetteCriterion("host") { $0.authority.lowercased() == $1.authority.lowercased() }
    /// Matches requests with the same path. The host and the query are ignored.
    public static let path = CassetteCriterion("path") { $0.path == $1.path }
    /// Matches requests with the same query items, in any order.
    public static let query = CassetteCriterion("query") { one, other in
        let items = [one, other].map { request in
            request.queryItems.map { "\($0.name)=\($0.value ?? "")" }
                .sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
        }
        return items[0] == items[1]
    }
    /// Matches requests whose bodies have the same bytes, or are equal as JSON or as forms. The boundaries of multipart
    /// forms are not compared. Bodies of more than 1 MiB, and those with a content coding other than gzip, are compared by
    /// length and SHA-256. Bodies that redaction withholds as a whole match each other.
    public static let body = CassetteCriterion("body") { one, other in
        if one.digest != nil || other.digest != nil {
            return (one.digest ?? BodyDigest(of: one.body)) == (other.digest ?? BodyDigest(of: other.body))
        }
        if one.body == other.body { return true }
        if let one = one.form, let other = other.form { return one.hasSameParts(as: other) }
        if let one = one.formItems, let other = other.formItems { return one == other }
        guard let one = try? JSON(parsing: one.body), let other = try? JSON(parsing: other.body) else { return false }
        return one == other
    }

    /// Matches requests with the same values of a header field.
    public static func header(_ name: HTTPHeaderName) -> CassetteCriterion {
        CassetteCriterion("header \(name)") {
            $0.headers.fieldValues(for: name) == $1.headers.fieldValues(for: name)
        }
    }

    /// Matches requests according to a closure.
    ///
    /// - Parameters:
    ///   - name: The name of the compared property, for the message of an unmatched request.
    ///   - isMatch: Called with a recorded request and the new request, on any thread. It must not block.
    /// - Returns: The criterion.
    public static func custom(
        _ name: String,
        _ isMatch: @escaping @Sendable (_ recorded: RecordedRequest, _ request: RecordedRequest) -> Bool
    ) -> CassetteCriterion {
        CassetteCriterion(name, isMatch)
    }
}

extension RecordedRequest {
    /// The decoded names and values of the body if it is a form whose items are encoded like those of a query; nil
    /// otherwise.
    fileprivate var formItems: [[String]]? {
        guard let text, headers[.contentType].flatMap(ContentType.init)?.essence == "application/x-www-form-urlencoded"
        else { return nil }
        return FormItems.items(of: text).map { [$0.name, $0.value ?? ""] }
    }

    /// The parts of the body if it is a multipart form; nil otherwise.
    fileprivate var form: MultipartParts? {
        guard let type = headers[.contentType].flatMap(ContentType.init), type.type == "multipart",
            let boundary = type["boundary"], !boundary.isEmpty
        else { return nil }
        return MultipartParts(body, boundary: boundary)
    }
}

extension MultipartParts {
    /// Returns true if another form has the same parts in the same order, whatever its boundary is.
    fileprivate func hasSameParts(as other: MultipartParts) -> Bool {
        end == other.end
            && parts.elementsEqual(other.parts) { one, other in
                one.head == other.head && one.content == other.content
            }
    }
}
