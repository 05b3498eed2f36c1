import SluiceFoundation

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
/// It also calls `onFailure` for each failed write, which is repeated after a second, then less often. ``load()`` and
/// ``save()`` throw the same errors.
///
/// On Linux, cookies are accepted and sent by the rules of RFC 6265bis. Names and values are sent byte for byte as
/// received. Servers cannot set cookies for a public suffix such as `co.uk`, by the list of libpsl (publicsuffix.org).
/// A cookie set by an address is sent to that address only. Over http, `Secure` cookies are not set, sent or replaced,
/// except on connections to this computer. Cookies whose name and value exceed 4,096 bytes are ignored, as are
/// cookies after the 50th of a response. A cookie that a server sets expires after 400 days at the latest. A jar keeps
/// about 180 cookies for a domain and 3,000 in all, and removes the least recently used first. A request carries as
/// many cookies as fit into 8,190 bytes. A path of more than 1,024 bytes is not accepted from a server. A cookie that contains a tab,
/// or whose line in the file would exceed 16 KiB, is kept in memory only. So are cookies beyond 32 MiB in the file. With URLSession, Apple's rules apply.
public final class CookieJar: Sendable {
    private struct State {
        /// The stores of this jar's cookies, one for each type of transport, by the store's type.
        var stores: [ObjectIdentifier: any CookieStorage] = [:]
        /// The cookies that a new store starts with.
        var initialCookies = CookieList()
        var lastSnapshot = 0
        var id = (UInt64.random(in: .min ... .max), UInt64.random(in: .min ... .max))
    }

    private let state = Locked(State())
    let file: CookieFile?

    /// A random identifier, unique across processes. It changes when the program sets or removes cookies, because they may then be those
    /// of another user. It does not change when a server sets a cookie.
    package var id: (UInt64, UInt64) { state.withLock { $0.id } }

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
            let store = make(state.initialCookies.lines)
            state.stores[ObjectIdentifier(Store.self)] = store
            return store
        }
    }

    /// Schedules a write of the file, if there is one. A transport calls it after a server has set a cookie.
    package func scheduleSave() {
        file?.scheduleWrite(of: self)
    }

    /// Applies a change to the jar and to all stores.
    func perform(_ change: CookieChange) async {
        for store in changed(change) {
            defer { state.synchronize() }
            await withUnsafeContinuation { continuation in store.perform(change) { _ in continuation.resume() } }
        }
        scheduleSave()
    }

    /// Adds the cookies of the file that the jar lacks, ordered before any later change.
    func addMissing(_ lines: [CookieLine]) {
        for store in changed(.addMissing(lines)) { store.perform(.addMissing(lines)) { _ in } }
    }

    private func changed(_ change: CookieChange) -> [any CookieStorage] {
        state.withLock { state in
            if case .remove(let removed) = change, !state.stores.isEmpty {
                // A store may have replaced these cookies, so that they have older values here.
                state.initialCookies.apply(.add(removed.map(\.expired)))
            } else {
                state.initialCookies.apply(change)
            }
            // The stores have limits of their own, and these cookies only begin another one.
            if !state.stores.isEmpty { state.initialCookies.removeOldest(beyond: 3000) }
            return Array(state.stores.values)
        }
    }

    /// Takes a snapshot of all cookies.
    ///
    /// The completion receives the snapshot's number, and the cookies, or nil if a store cannot list them. The number is
    /// taken first and increases with each snapshot, so the one with a higher number has all earlier changes.
    func takeSnapshot(_ completion: @escaping @Sendable (Int, [CookieLine]?) -> Void) {
        let (stores, number, lines) = state.withLock { state in
            state.lastSnapshot += 1
            state.initialCookies.apply(.none)
            return (Array(state.stores.values), state.lastSnapshot, state.initialCookies.lines)
        }
        guard let store = stores.first else { return completion(number, lines) }
        collectLines(of: store, stores.dropFirst(), CookieList()) { completion(number, $0) }
    }

    /// Adds the cookies of a store and of the others, one after the other, to those found so far.
    private func collectLines(
        of store: any CookieStorage,
        _ others: ArraySlice<any CookieStorage>,
        _ found: CookieList,
        _ completion: @escaping @Sendable ([CookieLine]?) -> Void
    ) {
        store.perform(.none) { [self] lines in
            guard let lines else { return completion(nil) }
            var found = found
            found.apply(.addMissing(lines))
            if let next = others.first { return collectLines(of: next, others.dropFirst(), found, completion) }
            completion(found.lines)
        }
    }
}

// Access to a jar's cookies. Each change is atomic for concurrent requests.
extension CookieJar {
    /// The unexpired cookies, sorted by domain, path and name.
    public var cookies: [Cookie] {
        get async {
            await read()
            return await lines()?.map { ($0.key, $0.cookie) }.sorted { $0.0 < $1.0 }.map(\.1) ?? []
        }
    }

    /// Adds a cookie, or replaces the one with the same name, domain, path and ``Cookie/includesSubdomains``. An
    /// expired cookie removes the existing one.
    ///
    /// The domain may be a public suffix: that restriction applies to servers only.
    ///
    /// - Parameter cookie: The cookie.
    /// - Throws: ``SluiceError/Code/invalidHeader`` if the cookie has no name or domain, its path does not begin with a
    ///   slash, its name contains a `=`, its name or value contains a `;`, its domain contains a space or begins with a
    ///   `#`, it contains a control character, or it violates the rules of a `__Secure-` or `__Host-` prefix.
    public func set(_ cookie: Cookie) async throws(SluiceError) {
        guard let line = CookieLine(cookie) else {
            throw SluiceError(
                .invalidHeader,
                """
                A cookie needs a name, a domain and a path that begins with a slash, without control characters or \
                semicolons, and must meet the requirements of a __Secure- or __Host- prefix in its name.
                """,
                step: .building
            )
        }
        await read()
        let replaced = await lines()?.first { $0.key == line.key }
        let isExpired = line.cookie.expires.map { $0 <= Date() } ?? false
        if isExpired ? replaced != nil : replaced?.value != line.value {
            await changingUser { await perform(.add([line])) }
        } else {
            await perform(.add([line]))
        }
    }

    /// Removes all cookies.
    public func removeAll() async {
        await read()
        await file?.forgetUnread()
        await changingUser { await perform(.removeAll) }
    }

    /// Removes the cookies that satisfy a predicate.
    ///
    /// ```swift
    /// await jar.removeAll { $0.domain == "shop.example" }
    /// ```
    ///
    /// - Parameter shouldBeRemoved: Returns true for a cookie to remove.
    public func removeAll(where shouldBeRemoved: @Sendable (Cookie) throws -> Bool) async rethrows {
        await read()
        let removed = try await lines()?.filter { try shouldBeRemoved($0.cookie) } ?? []
        await changingUser { if !removed.isEmpty { await perform(.remove(removed)) } }
    }

    /// Runs a change after which the cookies may be those of another user. A request that is sent meanwhile belongs to neither user.
    private func changingUser(_ change: () async -> Void) async {
        state.withLock { $0.id = State().id }
        await change()
        state.withLock { $0.id = State().id }
    }

    /// Reads the file, unless it has been read. Requests read it automatically. Cookies already in the jar are kept.
    ///
    /// After a failure this function tries again. Without a file it does nothing.
    ///
    /// - Throws: ``SluiceError/Code/cookieFileFailed`` if the file exists but cannot be read.
    public func load() async throws(SluiceError) {
        try await file?.read(for: self, isAgain: true).get()
    }

    /// Writes the file and returns when it is on disk. Without a file it does nothing.
    ///
    /// - Throws: ``SluiceError/Code/cookieFileFailed`` if the file cannot be written, or could not be read; it is then
    ///   unchanged.
    public func save() async throws(SluiceError) {
        guard let file else { return }
        try await file.read(for: self, isAgain: true).get()
        try await file.write(self).get()
    }

    /// True if requests need not wait for the file.
    package var isReady: Bool { file?.isSettled ?? true }

    /// Reads the file before the first request. A file that cannot be read does not fail the request.
    ///
    /// - Parameter limit: The time that the request may wait.
    /// - Throws: A time-out or cancellation error.
    package func prepare(within limit: Duration?) async throws(SluiceError) {
        if isReady { return }
        try await TimedWork.outcome(within: limit, else: .cookieFileTimedOut) { () async throws(SluiceError) in
            await self.read()
        }
    }

    private func read() async {
        if !isReady { _ = await file?.read(for: self, isAgain: false) }
    }

    private func lines() async -> [CookieLine]? {
        let fence = Locked(())
        defer { fence.synchronize() }
        return await withUnsafeContinuation { continuation in
            takeSnapshot { _, lines in
                fence.synchronize()
                continuation.resume(returning: lines)
            }
        }
    }
}

extension SluiceError {
    fileprivate static let cookieFileTimedOut = SluiceError(
        .timedOut,
        "The request exceeded the total time-out before its cookie file was read."
    )
}

// MARK: - Cookie storage

/// A transport's store of the cookies of one jar.
package protocol CookieStorage: Sendable {
    /// Applies a change and passes the resulting cookies to the completion, or nil if they cannot be listed.
    ///
    /// May be called on any thread. Changes are applied in the order of the calls. The completion runs on any thread.
    func perform(_ change: CookieChange, _ completion: @escaping @Sendable ([CookieLine]?) -> Void)
}

/// A change to a jar's cookies.
package enum CookieChange: Sendable {
    case none
    /// Adds cookies. Each replaces the cookie with the same key; an expired cookie removes it.
    case add([CookieLine])
    /// Adds the cookies whose key is not present.
    case addMissing([CookieLine])
    /// Removes the cookies that have not been replaced since.
    case remove([CookieLine])
    case removeAll

    /// Returns the lines that the change adds to the given ones.
    package func additions(to lines: [CookieLine]) -> [CookieLine] {
        switch self {
        case .none, .removeAll: return []
        case .add(let added): return added
        case .addMissing(let added):
            let keys = Set(lines.map(\.key))
            return added.filter { !keys.contains($0.key) }
        case .remove(let removed):
            return Set(removed).intersection(lines).map(\.expired)
        }
    }
}

/// A list of cookies with unique keys.
package struct CookieList: Sendable, Hashable {
    package private(set) var lines: [CookieLine] = []

    package init() {}

    /// Applies a change, and removes expired cookies.
    package mutating func apply(_ change: CookieChange, now: Date = Date()) {
        if case .removeAll = change { lines = [] }
        let additions = change.additions(to: lines)
        if !additions.isEmpty {
            var indexes = Dictionary(lines.enumerated().map { ($1.key, $0) }, uniquingKeysWith: { $1 })
            for line in additions {
                if let index = indexes[line.key] {
                    lines[index] = line
                } else {
                    indexes[line.key] = lines.count
                    lines.append(line)
                }
            }
        }
        lines.removeAll { line in line.cookie.expires.map { $0 <= now } ?? false }
    }

    /// Removes the oldest cookies beyond a number.
    mutating func removeOldest(beyond limit: Int) {
        if lines.count > limit { lines.removeFirst(lines.count - limit) }
    }
}
