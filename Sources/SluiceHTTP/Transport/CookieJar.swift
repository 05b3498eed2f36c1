/// Where the cookies that servers set are kept, and taken from for further requests (RFC 6265).
///
/// ```swift
/// let shop = APIClient(baseURL: "https://shop.example") { $0.cookies = CookieJar() }
/// ```
///
/// A request with a `Cookie` header of its own takes no part in it. A jar lives in memory, as long as anybody holds it. Clients that share one share its cookies.
public final class CookieJar: Sendable {
    /// What each transport keeps of the jar, by its type; guarded by the lock.
    private let stores = Locked<[ObjectIdentifier: any Sendable]>([:])

    /// Tells it from all others, those of other processes too.
    package let id = (UInt64.random(in: .min ... .max), UInt64.random(in: .min ... .max))

    /// Makes an empty jar.
    public init() {}

    /// The transport's own store of this jar's cookies, made when it is first asked for.
    package func store<Store: Sendable>(made make: () -> Store?) -> Store? {
        stores.withLock { stores in
            if let store = stores[ObjectIdentifier(Store.self)] as? Store { return store }
            let store = make()
            stores[ObjectIdentifier(Store.self)] = store
            return store
        }
    }
}
