#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Cookies that servers set, kept for further requests (RFC 6265bis).
///
/// ```swift
/// let jar = CookieJar(file: "/var/lib/shop/cookies.txt")
/// let shop = APIClient(baseURL: "https://shop.example") { $0.cookies = jar }
/// ```
///
/// Clients that share a jar share its cookies. A request with a `Cookie` header of its own takes no part in it.
///
/// A jar without a file lives in memory, as long as anybody holds it. One with a file reads it before its first request, and writes it
/// after changes: at once, and then once a second at most, from a queue of its own, so that no request waits for it. What a program
/// changes in its last second may be lost with it; ``save()`` writes now. The file is the one that curl, wget and Python's
/// `http.cookiejar` know, written beside its place with the mode 0600, brought to the disk and put there as a whole. Session cookies are in
/// it too, with 0 for their end, as curl has it: who keeps a jar in a file wants to stay signed in, and a program has no other session.
/// ``removeAll(where:)`` with `{ $0.expires == nil }` begins a new one. One jar has the file at a time: of two the last to write it wins.
///
/// No request fails because of the file. A missing one is an empty jar, and lines that are no cookies are passed over. One that cannot be
/// read is left as it is, and never written over: the jar goes on in memory, and `onFailure` is told, as it is of each time that
/// the file cannot be written. ``load()`` and ``save()`` throw the same errors.
///
/// On Linux cookies are accepted and sent by the rules of RFC 6265bis. Names and values are sent as they came, byte for byte. No server can
/// set a cookie for a public suffix, as `co.uk`: libpsl has the list of them (publicsuffix.org). Cookies for addresses go to that address
/// only. Over http no `Secure` cookie is set, sent or replaced, except between a program and its own computer. A name and value of more than
/// 4,096 bytes are ignored, as are cookies after the 50th of a response; a cookie that a server sets ends after 400 days at the latest. A jar
/// keeps 180 cookies for a domain and 3,000 in all, or a few more; those that have not been used for the longest time go first. A request
/// has as many as fit into 8,190 bytes. A cookie with a tab in it is kept in memory only, since the file cannot hold it. URLSession has Apple's rules.
public final class CookieJar: Sendable {
    private struct State {
        /// What each transport keeps of the jar, by its type.
        var stores: [ObjectIdentifier: any CookieStorage] = [:]
        /// What the next of them begins with.
        var first = CookieList()
        /// How often the cookies have been looked at as a whole.
        var looks = 0
    }

    private let state = Locked(State())
    let file: CookieFile?

    /// Tells it from all others, those of other processes too.
    package let id = (UInt64.random(in: .min ... .max), UInt64.random(in: .min ... .max))

    /// Makes an empty jar that lives in memory.
    public init() {
        file = nil
    }

    /// Makes a jar that is kept in a file.
    ///
    /// - Parameters:
    ///   - path: Where the file is, or will be; its folder must be there.
    ///   - onFailure: Is told why the file could not be read or written when nobody had asked for it, on a queue of the jar's; it must not
    ///     block.
    public init(file path: String, onFailure: @escaping @Sendable (SluiceError) -> Void = { _ in }) {
        file = CookieFile(path: path, onFailure: onFailure)
    }

    /// The transport's own store of this jar's cookies, made of what there is when it is first asked for.
    package func store<Store: CookieStorage>(made make: ([CookieLine]) -> Store?) -> Store? {
        state.withLock { state in
            if let store = state.stores[ObjectIdentifier(Store.self)] as? Store { return store }
            let store = make(state.first.lines)
            state.stores[ObjectIdentifier(Store.self)] = store
            return store
        }
    }

    /// Notes that a server has set a cookie, so that the file is written.
    package func noteChange() {
        file?.scheduleWriting(of: self)
    }

    /// Changes what is kept by the jar and all transports.
    func perform(_ change: CookieChange) async {
        for store in changed(change) {
            defer { state.synchronize() }
            await withUnsafeContinuation { continuation in store.perform(change) { _ in continuation.resume() } }
        }
        noteChange()
    }

    /// Adds what the file holds; by the time any later change is made, it has been added.
    func adopt(_ lines: [CookieLine]) {
        for store in changed(.addMissing(lines)) { store.perform(.addMissing(lines)) { _ in } }
    }

    private func changed(_ change: CookieChange) -> [any CookieStorage] {
        state.withLock { state in
            state.first.apply(change)
            return Array(state.stores.values)
        }
    }

    /// What is kept now, with a number that is higher the later it was looked at; nil where a transport cannot tell.
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
