#if os(Linux)
import CPSL
import SluiceFoundation
import SluiceHTTP

/// The cookies of a jar, with the storage and retrieval rules of RFC 6265bis §5.7 and §5.8.
///
/// Cookies are grouped by domain, so a request examines only the cookies of its host and of the parent domains.
package struct CookieTable: Sendable {
    /// The limits on the cookies that servers can store.
    package struct Limits: Sendable, Hashable {
        /// The maximum number of cookies of one domain.
        package var domain = 180
        /// The number of cookies that an eviction keeps.
        package var total = 3000
        /// The number of cookies above `total` at which an eviction starts, so that evictions are rare.
        package var slack = 300
        /// The maximum number of `Set-Cookie` fields of one response that are processed.
        package var response = 50
        /// The maximum length of a `Cookie` field line in bytes. Common servers accept lines of this length.
        package var fieldLine = 8190

        package init() {}
    }

    private let limits: Limits
    private let isPublicSuffix: @Sendable (String) -> Bool
    private var domains: [String: [StoredCookie]] = [:]
    /// The number of secure cookies with each name.
    private var secureNames: [[UInt8]: Int] = [:]
    private var lastNumber: UInt64 = 0

    /// The number of cookies, including expired ones that have not been removed yet.
    package private(set) var count = 0

    /// Creates a table.
    ///
    /// - Parameters:
    ///   - lines: The initial cookies.
    ///   - limits: The limits.
    ///   - now: The current time.
    ///   - isPublicSuffix: Returns true if a domain is a public suffix.
    package init(
        _ lines: [CookieLine] = [],
        limits: Limits = Limits(),
        at now: Date = Date(),
        isPublicSuffix: @escaping @Sendable (String) -> Bool
    ) {
        self.limits = limits
        self.isPublicSuffix = isPublicSuffix
        apply(.add(lines), at: now)
    }

    // MARK: Servers

    /// Stores the `Set-Cookie` fields of a response, up to the limit.
    ///
    /// - Parameters:
    ///   - fields: The values of the fields.
    ///   - origin: The origin of the request.
    ///   - now: The current time.
    /// - Returns: True if a cookie was set or removed.
    package mutating func store(_ fields: some Sequence<FieldValue>, from origin: CookieOrigin, at now: Date) -> Bool {
        var hasChanged = false
        for field in fields.prefix(limits.response) where store(field.bytes, from: origin, at: now) {
            hasChanged = true
        }
        return hasChanged
    }

    /// Stores a `Set-Cookie` field.
    ///
    /// - Parameters:
    ///   - field: The value of the field.
    ///   - origin: The origin of the request.
    ///   - now: The current time.
    /// - Returns: True if a cookie was set or removed.
    package mutating func store(_ field: [UInt8], from origin: CookieOrigin, at now: Date) -> Bool {
        guard let field = SetCookie(field),
            let cookie = StoredCookie(field, from: origin, at: now, isPublicSuffix: isPublicSuffix),
            origin.isSecure || !overlaysSecure(cookie, at: now)
        else { return false }
        let hasChanged = store(cookie, at: now)
        if count > limits.total + limits.slack { evict(at: now) }
        return hasChanged
    }

    /// Returns true if a cookie set over http has the name of a secure cookie and would be sent together with it.
    private func overlaysSecure(_ cookie: StoredCookie, at now: Date) -> Bool {
        guard secureNames[cookie.name] != nil else { return false }
        let related = domains.keys.filter { domain in
            domain == cookie.domain || CookieOrigin.isSubdomain(domain, of: cookie.domain)
                || CookieOrigin.isSubdomain(cookie.domain, of: domain)
        }
        return related.contains { domain in
            domains[domain, default: []].contains { other in
                other.isSecure && other.name == cookie.name && !other.isExpired(at: now)
                    && CookieOrigin.path(cookie.path, isWithin: other.path)
            }
        }
    }

    // MARK: Requests

    /// Returns the value of the `Cookie` field for a request, or nil if no cookie matches.
    ///
    /// Cookies with longer paths come first, then cookies with an earlier creation time. Cookies that do not fit are omitted, those for
    /// a parent domain first.
    ///
    /// - Parameters:
    ///   - origin: The origin of the request.
    ///   - now: The current time.
    /// - Returns: The bytes of all pairs.
    package mutating func header(for origin: CookieOrigin, at now: Date) -> [UInt8]? {
        if count == 0 { return nil }
        var found: [StoredCookie] = []
        let number = nextNumber()
        for (level, domain) in origin.domains.enumerated() {
            guard let list = domains.index(forKey: domain) else { continue }
            for index in domains.values[list].indices
            where domains.values[list][index].matches(origin, isHost: level == 0, at: now) {
                domains.values[list][index].lastUse = number
                found.append(domains.values[list][index])
            }
        }
        if found.isEmpty { return nil }
        found.sort { ($1.path.count, $0.created) < ($0.path.count, $1.created) }
        var bytes: [UInt8] = []
        for cookie in fitting(found, for: origin) {
            if !bytes.isEmpty { bytes.append(contentsOf: "; ".utf8) }
            cookie.appendPair(to: &bytes)
        }
        return bytes.isEmpty ? nil : bytes
    }

    /// Returns the cookies that fit into a field. Those that only the host can set are chosen first, and then those of its domain, because
    /// any sibling host can set cookies for a parent domain.
    private func fitting(_ cookies: [StoredCookie], for origin: CookieOrigin) -> [StoredCookie] {
        let separator = "; ".utf8.count
        var left = limits.fieldLine - "Cookie: ".utf8.count + separator
        if cookies.reduce(0, { $0 + $1.pairLength + separator }) <= left { return cookies }
        var chosen: Set<UInt64> = []
        for rank in 0...2 {
            for cookie in cookies where (cookie.isHostOnly ? 0 : cookie.domain == origin.host ? 1 : 2) == rank {
                let length = cookie.pairLength + separator
                if length > left { continue }
                left -= length
                chosen.insert(cookie.created)
            }
        }
        return cookies.filter { chosen.contains($0.created) }
    }

    // MARK: The program

    /// Applies a change by the program or from a file. The rules for servers do not apply to it, except the limits on cookies.
    package mutating func apply(_ change: CookieChange, at now: Date) {
        switch change {
        case .none: break
        case .removeAll:
            domains = [:]
            secureNames = [:]
            count = 0
        case .add(let lines):
            for line in lines { _ = store(StoredCookie(line), at: now) }
        case .addMissing(let lines):
            for line in lines {
                let cookie = StoredCookie(line)
                if !contains(cookie, at: now) { _ = store(cookie, at: now) }
            }
        case .remove:
            for line in change.additions(to: lines(at: now)) { _ = store(StoredCookie(line), at: now) }
        }
        if count > limits.total + limits.slack { evict(at: now) }
    }

    /// Returns the cookies that have not expired, in order of creation, and removes the others.
    package mutating func lines(at now: Date) -> [CookieLine] {
        removeExpired(at: now)
        return domains.values.joined().sorted { $0.created < $1.created }.map(\.line)
    }

    private func contains(_ cookie: StoredCookie, at now: Date) -> Bool {
        domains[cookie.domain]?.contains { $0.hasSameIdentity(as: cookie) && !$0.isExpired(at: now) } ?? false
    }

    // MARK: Storage

    private mutating func nextNumber() -> UInt64 {
        lastNumber += 1
        return lastNumber
    }

    /// Adds a cookie, or replaces the cookie with the same identity. An expired cookie only removes it. Returns false if nothing changed.
    private mutating func store(_ cookie: StoredCookie, at now: Date) -> Bool {
        // Removing the array from the dictionary allows changing it in place.
        var list = domains.removeValue(forKey: cookie.domain) ?? []
        defer { if !list.isEmpty { domains[cookie.domain] = list } }
        let index = list.firstIndex { $0.hasSameIdentity(as: cookie) }
        if cookie.isExpired(at: now) {
            if let index { remove(index, from: &list) }
            return index != nil
        }
        var cookie = cookie
        cookie.lastUse = nextNumber()
        cookie.created = index.flatMap { list[$0].isExpired(at: now) ? nil : list[$0].created } ?? cookie.lastUse
        updateCounters(for: cookie, isAdded: true)
        if let index {
            updateCounters(for: list[index], isAdded: false)
            list[index] = cookie
        } else {
            list.append(cookie)
            if list.count > limits.domain, let victim = CookieTable.victim(in: list, at: now) {
                remove(victim, from: &list)
            }
        }
        return true
    }

    /// Returns the index of the cookie to evict: an expired one, else a non-secure one, else any. The least recently used first.
    private static func victim(in list: [StoredCookie], at now: Date) -> Int? {
        func rank(_ cookie: StoredCookie) -> (Int, UInt64) {
            (cookie.isExpired(at: now) ? 0 : cookie.isSecure ? 2 : 1, cookie.lastUse)
        }
        return list.indices.min { rank(list[$0]) < rank(list[$1]) }
    }

    /// Removes expired cookies and, if there are still too many, the least recently used ones.
    private mutating func evict(at now: Date) {
        removeExpired(at: now)
        guard count > limits.total else { return }
        let order = domains.values.joined().map { ($0.lastUse, $0.created) }.sorted { $0 < $1 }
        let victims = Set(order.prefix(count - limits.total).map(\.1))
        removeAll { victims.contains($0.created) }
    }

    private mutating func removeExpired(at now: Date) {
        removeAll { $0.isExpired(at: now) }
    }

    private mutating func removeAll(where shouldBeRemoved: (StoredCookie) -> Bool) {
        for (domain, list) in domains where list.contains(where: shouldBeRemoved) {
            for cookie in list where shouldBeRemoved(cookie) { updateCounters(for: cookie, isAdded: false) }
            let rest = list.filter { !shouldBeRemoved($0) }
            domains[domain] = rest.isEmpty ? nil : rest
        }
    }

    private mutating func remove(_ index: Int, from list: inout [StoredCookie]) {
        updateCounters(for: list.remove(at: index), isAdded: false)
    }

    /// Updates the counters for an added or removed cookie.
    private mutating func updateCounters(for cookie: StoredCookie, isAdded: Bool) {
        count += isAdded ? 1 : -1
        guard cookie.isSecure else { return }
        let others = secureNames[cookie.name, default: 0] + (isAdded ? 1 : -1)
        secureNames[cookie.name] = others > 0 ? others : nil
    }
}

// MARK: - Cookie store

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
    package init?(_ jar: CookieJar?, for request: HTTPRequest, by plan: ConnectionPlan) {
        guard let jar, !request.headers.contains(.cookie),
            let origin = CookieOrigin(request, isDirect: plan.leadsToHost),
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

/// The functions of libpsl. The first use loads the library.
private var psl: sluice_psl { sluice_psl().pointee }

/// The public suffixes, such as `co.uk`, under which anybody can register a domain (publicsuffix.org), as built into libpsl.
package enum PublicSuffixes {
    /// Returns true if a domain is a public suffix.
    ///
    /// - Parameter domain: The domain, in lower case and without a trailing dot. A domain without any dot is always a public suffix.
    /// - Returns: True for a public suffix. Without libpsl, and with a libpsl without a list, all domains are public suffixes.
    package static func contains(_ domain: String) -> Bool {
        guard psl.is_complete != 0, let list = psl.psl_builtin() else { return true }
        return psl.psl_is_public_suffix(list, domain) != 0
    }
}
#endif
