#if os(Linux)
import SluiceFoundation
import CPSL
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

/// The cookie handling of one request: its `Cookie` field, and the `Set-Cookie` fields of its responses.
package struct RequestCookies: Sendable {
    private let jar: CookieJar
    private let store: CookieStore
    private let origin: CookieOrigin

    /// Finds the store of a jar. Returns nil if there is no jar, or if the request has its own `Cookie` field.
    ///
    /// The first request of a jar creates its store, so this must not run on the thread of a loop.
    package init?(_ jar: CookieJar?, for request: HTTPRequest) {
        guard let jar, !request.headers.contains(.cookie), let origin = CookieOrigin(request),
            let store = jar.store(made: { CookieStore($0) })
        else { return nil }
        self.jar = jar
        self.store = store
        self.origin = origin
    }

    /// Returns the current value of the `Cookie` field with its original bytes, or nil for no field.
    package func header() -> FieldValue? { store.header(for: origin) }

    /// Stores the cookies that a response sets.
    package func store(_ response: HTTPResponse) {
        guard response.headers.contains(.setCookie) else { return }
        if store.store(response.headers.fieldValues(for: .setCookie), from: origin) { jar.scheduleSave() }
    }
}

/// The public suffixes, such as `co.uk`, under which anybody can register a domain (publicsuffix.org), as built into libpsl.
package enum PublicSuffixes {
    /// Returns true if a domain is a public suffix.
    ///
    /// - Parameter domain: The domain, in lower case and without a trailing dot. A domain without any dot is always a public suffix.
    /// - Returns: True for a public suffix. A libpsl without a list knows only domains without a dot.
    package static func contains(_ domain: String) -> Bool {
        guard let list = psl_builtin() else { return !domain.utf8.contains(UInt8(ascii: ".")) }
        return psl_is_public_suffix(list, domain) != 0
    }
}
#endif
