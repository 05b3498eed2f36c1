#if os(Linux)
import SluiceHTTP

/// The part that one request takes in a jar: the field it is sent with, and the fields of its responses.
package struct CookieExchange: Sendable {
    private let jar: CookieJar
    private let store: CookieStore
    private let origin: CookieOrigin

    /// Prepares a request; nil if it takes no part: without a jar, or with a `Cookie` field of its own.
    ///
    /// The first request of a jar builds its store, so this is not for a loop's thread.
    package init?(_ jar: CookieJar?, for request: HTTPRequest) {
        guard let jar, !request.headers.contains(.cookie), let origin = CookieOrigin(request),
            let store = jar.store(made: { CookieStore($0) })
        else { return nil }
        self.jar = jar
        self.store = store
        self.origin = origin
    }

    /// Returns the value of the `Cookie` field at this moment, its bytes as they came; nil for no field.
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
