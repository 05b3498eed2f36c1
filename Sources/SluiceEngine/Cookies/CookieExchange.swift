#if os(Linux)
import SluiceHTTP

/// The cookie handling of one request: its `Cookie` field, and the `Set-Cookie` fields of its responses.
package struct CookieExchange: Sendable {
    private let jar: CookieJar
    private let store: CookieStore
    private let origin: CookieOrigin

    /// Creates the exchange, or returns nil if there is no jar or the request has its own `Cookie` field.
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
    package func take(_ response: HTTPResponse) {
        guard response.headers.contains(.setCookie) else { return }
        take(response.headers.fieldValues(for: .setCookie))
    }

    /// Stores the cookies of `Set-Cookie` fields.
    package func take(_ fields: [FieldValue]) {
        if store.store(fields, from: origin) { jar.noteChange() }
    }
}
#endif
