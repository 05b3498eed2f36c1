import Sluice
import SluiceHTTP

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// What a request and a recorded one must have in common for the one to be answered as the other was.
///
/// Method and URL by default. More is said where it matters: `[.method, .url, .body]`.
public struct CassetteCriterion: Sendable, CustomStringConvertible {
    /// What it compares.
    public let description: String
    /// Whether two requests are alike.
    let isMatch: @Sendable (_ recorded: RecordedRequest, _ request: RecordedRequest) -> Bool

    private init(_ description: String, _ isMatch: @escaping @Sendable (RecordedRequest, RecordedRequest) -> Bool) {
        self.description = description
        self.isMatch = isMatch
    }

    /// The same method.
    public static let method = CassetteCriterion("method") { $0.method == $1.method }
    /// The same URL, query included, to the letter.
    public static let url = CassetteCriterion("url") { $0.url == $1.url }
    /// The same host and port.
    public static let host = CassetteCriterion("host") { $0.authority.lowercased() == $1.authority.lowercased() }
    /// The same path, whatever the host and query.
    public static let path = CassetteCriterion("path") { $0.path == $1.path }
    /// The same items in the query, in any order.
    public static let query = CassetteCriterion("query") { one, other in
        let items = [one, other].map { request in
            request.queryItems.map { "\($0.name)=\($0.value ?? "")" }
                .sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
        }
        return items[0] == items[1]
    }
    /// The same body: the same bytes, or JSON that says the same.
    public static let body = CassetteCriterion("body") { one, other in
        if one.body == other.body { return true }
        guard let one = try? JSON(parsing: one.body), let other = try? JSON(parsing: other.body) else { return false }
        return one == other
    }

    /// The same values of a header.
    public static func header(_ name: HTTPHeaderName) -> CassetteCriterion {
        CassetteCriterion("header \(name)") {
            $0.headers.fieldValues(for: name) == $1.headers.fieldValues(for: name)
        }
    }

    /// A comparison of one's own.
    public static func custom(
        _ description: String,
        _ isMatch: @escaping @Sendable (_ recorded: RecordedRequest, _ request: RecordedRequest) -> Bool
    ) -> CassetteCriterion {
        CassetteCriterion(description, isMatch)
    }
}

extension [CassetteCriterion] {
    /// Method and URL.
    public static var methodAndURL: [CassetteCriterion] { [.method, .url] }
}
