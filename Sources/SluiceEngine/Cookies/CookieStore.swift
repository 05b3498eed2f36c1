#if os(Linux)
#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif
import SluiceHTTP

/// The cookies of one jar, shared by all transports of the process. A lock guards the table and is held for bounded work only.
package struct CookieStore: CookieStorage {
    private let table: Locked<CookieTable>

    /// Creates a store that contains the cookies.
    package init(_ lines: [CookieLine]) {
        table = Locked(CookieTable(lines) { PublicSuffixes.contains($0) })
    }

    package func perform(_ change: CookieChange, _ completion: @escaping @Sendable ([CookieLine]?) -> Void) {
        let lines = table.withLock { table in
            let now = Date()
            table.apply(change, at: now)
            return table.lines(at: now)
        }
        completion(lines)
    }

    /// Returns the value of the `Cookie` field for a request, or nil if no cookie matches.
    func header(for origin: CookieOrigin) -> FieldValue? {
        table.withLock { $0.header(for: origin, at: Date()) }.map { FieldValue(bytes: $0) }
    }

    /// Stores `Set-Cookie` fields. Returns true if a cookie was set or removed.
    func store(_ fields: [FieldValue], from origin: CookieOrigin) -> Bool {
        table.withLock { $0.store(fields, from: origin, at: Date()) }
    }
}
#endif
