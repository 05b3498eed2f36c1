#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A store of cookies that servers set, sent with later requests (RFC 6265bis).
///
/// ```swift
/// let jar = CookieJar(file: "/var/lib/shop/cookies.txt")
/// let shop = APIClient(baseURL: "https://shop.example") { $0.cookies = jar }
/// ```
///
/// Clients that share a jar share its cookies. A request with its own `Cookie` header neither sends nor stores cookies
/// of the jar.
///
/// A jar without a file lives in memory until it is released. A jar with a file reads it before the first request. It
/// writes the file after changes, immediately and then at most once a second, on its own queue, so that no request
/// waits for it. Changes of the last second before the program ends may be lost; ``save()`` writes at once. The file
/// has the format of curl, wget and Python's `http.cookiejar`. It is replaced atomically, synchronized to disk, with
/// the mode 0600. Session cookies are stored too, with an expiry of 0 as in curl. To start a new session, call
/// ``removeAll(where:)`` with `{ $0.expires == nil }`. Use a file with one jar at a time: of two jars, the last write
/// wins.
///
/// No request fails because of the file. A missing file is an empty jar, and lines that are not cookies are skipped. A
/// file that cannot be read is left unchanged and never overwritten: the jar continues in memory and calls `onFailure`.
/// It also calls `onFailure` for each failed write. ``load()`` and ``save()`` throw the same errors.
///
/// On Linux, cookies are accepted and sent by the rules of RFC 6265bis. Names and values are sent byte for byte as
/// received. Servers cannot set cookies for a public suffix such as `co.uk`, by the list of libpsl (publicsuffix.org).
/// A cookie set by an address is sent to that address only. Over http, `Secure` cookies are not set, sent or replaced,
/// except on connections to this computer. Cookies whose name and value exceed 4,096 bytes are ignored, as are
/// cookies after the 50th of a response. A cookie that a server sets expires after 400 days at the latest. A jar keeps
/// about 180 cookies for a domain and 3,000 in all, and removes the least recently used first. A request carries as
/// many cookies as fit into 8,190 bytes. A cookie that contains a tab is kept in memory only, since the file format
/// cannot hold it. With URLSession, Apple's rules apply.
public final class CookieJar: Sendable {
    private struct State {
        /// The stores of this jar's cookies, one for each type of transport, by the store's type.
        var stores: [ObjectIdentifier: any CookieStorage] = [:]
        /// The cookies that the next store starts with.
        var first = CookieList()
        /// The number of snapshots taken.
        var looks = 0
    }

    private let state = Locked(State())
    let file: CookieFile?

    /// A random identifier, unique across processes.
    package let id = (UInt64.random(in: .min ... .max), UInt64.random(in: .min ... .max))

    /// Creates an empty jar in memory.
    public init() {
        file = nil
    }

    /// Creates a jar that is kept in a file.
    ///
    /// - Parameters:
    ///   - path: The path of the file; its folder must exist.
    ///   - onFailure: Called when a read or write that the program did not request fails, on the jar's own queue. It
    ///     must not block.
    public init(file path: String, onFailure: @escaping @Sendable (SluiceError) -> Void = { _ in }) {
        file = CookieFile(path: path, onFailure: onFailure)
    }

    /// Returns the transport's store of this jar's cookies; creates it from the current cookies on the first call.
    package func store<Store: CookieStorage>(made make: ([CookieLine]) -> Store?) -> Store? {
        state.withLock { state in
            if let store = state.stores[ObjectIdentifier(Store.self)] as? Store { return store }
            let store = make(state.first.lines)
            state.stores[ObjectIdentifier(Store.self)] = store
            return store
        }
    }

    /// Schedules a write of the file after a server has set a cookie.
    package func noteChange() {
        file?.scheduleWriting(of: self)
    }

    /// Applies a change to the jar and to all stores.
    func perform(_ change: CookieChange) async {
        for store in changed(change) {
            defer { state.synchronize() }
            await withUnsafeContinuation { continuation in store.perform(change) { _ in continuation.resume() } }
        }
        noteChange()
    }

    /// Adds the cookies of the file that the jar lacks, ordered before any later change.
    func adopt(_ lines: [CookieLine]) {
        for store in changed(.addMissing(lines)) { store.perform(.addMissing(lines)) { _ in } }
    }

    private func changed(_ change: CookieChange) -> [any CookieStorage] {
        state.withLock { state in
            state.first.apply(change)
            return Array(state.stores.values)
        }
    }

    /// Takes a snapshot of all cookies.
    ///
    /// The completion receives the snapshot's number, which increases with each snapshot, and the cookies, or nil if a
    /// store cannot list them.
    func look(_ completion: @escaping @Sendable (Int, [CookieLine]?) -> Void) {
        let (stores, number, lines) = state.withLock { state in
            state.looks += 1
            state.first.apply(.none)
            return (Array(state.stores.values), state.looks, state.first.lines)
        }
        guard let store = stores.first else { return completion(number, lines) }
        look(store, stores.dropFirst(), CookieList(), completion)
    }

    private func look(
        _ store: any CookieStorage,
        _ others: ArraySlice<any CookieStorage>,
        _ found: CookieList,
        _ completion: @escaping @Sendable (Int, [CookieLine]?) -> Void
    ) {
        store.perform(.none) { [self] lines in
            let number = state.withLock { state in
                state.looks += 1
                return state.looks
            }
            guard let lines else { return completion(number, nil) }
            var found = found
            found.apply(.addMissing(lines))
            if let next = others.first { return look(next, others.dropFirst(), found, completion) }
            completion(number, found.lines)
        }
    }
}
