#if os(Linux)
#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif
import SluiceHTTP

/// The cookies of a jar, and the rules by which servers change them and requests get them (RFC 6265bis §5.7 and §5.8).
///
/// The cookies lie by their domains, so that a request looks at those of its host and of the domains above it only.
package struct CookieTable: Sendable {
    /// The numbers and lengths that bound what servers can make of a table.
    package struct Limits: Sendable, Hashable {
        /// Cookies of one domain.
        package var domain = 180
        /// Cookies in all that are kept when some have to go.
        package var total = 3000
        /// Cookies beyond `total` from which on some have to go, so that it seldom comes to that.
        package var slack = 300
        /// `Set-Cookie` fields of one response.
        package var response = 50
        /// The length of a `Cookie` field line, within what common servers accept.
        package var fieldLine = 8190

        package init() {}
    }

    private let limits: Limits
    private let isPublicSuffix: @Sendable (String) -> Bool
    private var domains: [String: [StoredCookie]] = [:]
    /// The number of secure cookies of a name.
    private var secureNames: [[UInt8]: Int] = [:]
    private var lastNumber: UInt64 = 0

    /// The number of cookies, those included that have ended and were not looked at since.
    package private(set) var count = 0

    /// Creates a table.
    ///
    /// - Parameters:
    ///   - lines: The first cookies.
    ///   - limits: Its limits.
    ///   - now: The time.
    ///   - isPublicSuffix: Returns true for a domain under which anybody can have a domain.
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

    /// Takes the `Set-Cookie` fields of a response, as many as the limits allow.
    ///
    /// - Parameters:
    ///   - fields: The values of the fields.
    ///   - origin: The request that was answered.
    ///   - now: The time.
    /// - Returns: True if a cookie was set or removed.
    package mutating func store(_ fields: some Sequence<FieldValue>, from origin: CookieOrigin, at now: Date) -> Bool {
        var hasChanged = false
        for field in fields.prefix(limits.response) where store(field.bytes, from: origin, at: now) {
            hasChanged = true
        }
        return hasChanged
    }

    /// Takes a `Set-Cookie` field.
    ///
    /// - Parameters:
    ///   - field: The value of the field.
    ///   - origin: The request that was answered.
    ///   - now: The time.
    /// - Returns: True if the cookie was set, or one was removed.
    package mutating func store(_ field: [UInt8], from origin: CookieOrigin, at now: Date) -> Bool {
        guard let field = SetCookie(field),
            let cookie = StoredCookie(field, from: origin, at: now, isPublicSuffix: isPublicSuffix),
            origin.isSecure || !overlaysSecure(cookie, at: now)
        else { return false }
        let hasChanged = put(cookie, at: now)
        if count > limits.total + limits.slack { evict(at: now) }
        return hasChanged
    }

    /// Returns true if a cookie that came over http has the name of a secure one and would be sent along with it.
    private func overlaysSecure(_ cookie: StoredCookie, at now: Date) -> Bool {
        guard secureNames[cookie.name] != nil else { return false }
        let related = domains.keys.filter { domain in
            domain == cookie.domain || CookieOrigin.isSubdomain(domain, of: cookie.domain)
                || CookieOrigin.isSubdomain(cookie.domain, of: domain)
        }
        return related.contains { domain in
            domains[domain, default: []].contains { other in
                other.isSecure && other.name == cookie.name && !other.hasEnded(at: now)
                    && CookieOrigin.path(cookie.path, isWithin: other.path)
            }
        }
    }

    // MARK: Requests

    /// Returns the value of the `Cookie` field for a request; nil if no cookie belongs to it.
    ///
    /// Cookies of longer paths come first, and then those that were created first. One that does not fit into the field is left out.
    ///
    /// - Parameters:
    ///   - origin: The request.
    ///   - now: The time.
    /// - Returns: The bytes of all pairs.
    package mutating func header(for origin: CookieOrigin, at now: Date) -> [UInt8]? {
        if count == 0 { return nil }
        var found: [StoredCookie] = []
        let number = nextNumber()
        for (level, domain) in origin.domains.enumerated() {
            guard let place = domains.index(forKey: domain) else { continue }
            for index in domains.values[place].indices
            where domains.values[place][index].belongs(to: origin, isHost: level == 0, at: now) {
                domains.values[place][index].used = number
                found.append(domains.values[place][index])
            }
        }
        if found.isEmpty { return nil }
        found.sort { ($1.path.count, $0.created) < ($0.path.count, $1.created) }
        var bytes: [UInt8] = []
        let room = limits.fieldLine - "Cookie: ".utf8.count
        for cookie in found where bytes.count + (bytes.isEmpty ? 0 : 2) + cookie.pairLength <= room {
            if !bytes.isEmpty { bytes.append(contentsOf: "; ".utf8) }
            cookie.appendPair(to: &bytes)
        }
        return bytes.isEmpty ? nil : bytes
    }

    // MARK: The program

    /// Makes a change that the program or a file asks for: prefixes and limits hold for it, the rules for servers do not.
    package mutating func apply(_ change: CookieChange, at now: Date) {
        switch change {
        case .none: break
        case .removeAll:
            domains = [:]
            secureNames = [:]
            count = 0
        case .add(let lines):
            for line in lines { _ = put(StoredCookie(line), at: now) }
        case .addMissing(let lines):
            for line in lines {
                let cookie = StoredCookie(line)
                if !contains(cookie, at: now) { _ = put(cookie, at: now) }
            }
        }
        if count > limits.total + limits.slack { evict(at: now) }
    }

    /// Returns the cookies that have not ended, in the order in which they were created, and removes the others.
    package mutating func lines(at now: Date) -> [CookieLine] {
        removeEnded(at: now)
        return domains.values.joined().sorted { $0.created < $1.created }.map(\.line)
    }

    private func contains(_ cookie: StoredCookie, at now: Date) -> Bool {
        domains[cookie.domain]?.contains { $0.isLike(cookie) && !$0.hasEnded(at: now) } ?? false
    }

    // MARK: Keeping

    private mutating func nextNumber() -> UInt64 {
        lastNumber += 1
        return lastNumber
    }

    /// Adds a cookie or replaces its like; one that has ended only removes it. Returns false if nothing has changed.
    private mutating func put(_ cookie: StoredCookie, at now: Date) -> Bool {
        // Taken out of the dictionary, so that it is changed in place.
        var list = domains.removeValue(forKey: cookie.domain) ?? []
        defer { if !list.isEmpty { domains[cookie.domain] = list } }
        let place = list.firstIndex { $0.isLike(cookie) }
        if cookie.hasEnded(at: now) {
            if let place { remove(place, from: &list) }
            return place != nil
        }
        var cookie = cookie
        cookie.used = nextNumber()
        cookie.created = place.map { list[$0].created } ?? cookie.used
        note(cookie, isAdded: true)
        if let place {
            note(list[place], isAdded: false)
            list[place] = cookie
        } else {
            list.append(cookie)
            if list.count > limits.domain, let victim = CookieTable.victim(in: list, at: now) {
                remove(victim, from: &list)
            }
        }
        return true
    }

    /// The first to go of a domain's: one that has ended, or else that is not secure, or else any, each the longest unused one.
    private static func victim(in list: [StoredCookie], at now: Date) -> Int? {
        func rank(_ cookie: StoredCookie) -> (Int, UInt64) {
            (cookie.hasEnded(at: now) ? 0 : cookie.isSecure ? 2 : 1, cookie.used)
        }
        return list.indices.min { rank(list[$0]) < rank(list[$1]) }
    }

    /// Removes those that have ended and, if there are still too many, those that were not used for the longest time.
    private mutating func evict(at now: Date) {
        removeEnded(at: now)
        guard count > limits.total else { return }
        let order = domains.values.joined().map { ($0.used, $0.created) }.sorted { $0 < $1 }
        let victims = Set(order.prefix(count - limits.total).map(\.1))
        removeAll { victims.contains($0.created) }
    }

    private mutating func removeEnded(at now: Date) {
        removeAll { $0.hasEnded(at: now) }
    }

    private mutating func removeAll(where shouldBeRemoved: (StoredCookie) -> Bool) {
        for (domain, list) in domains where list.contains(where: shouldBeRemoved) {
            for cookie in list where shouldBeRemoved(cookie) { note(cookie, isAdded: false) }
            let rest = list.filter { !shouldBeRemoved($0) }
            domains[domain] = rest.isEmpty ? nil : rest
        }
    }

    private mutating func remove(_ place: Int, from list: inout [StoredCookie]) {
        note(list.remove(at: place), isAdded: false)
    }

    /// Keeps the numbers right for a cookie that is added or removed.
    private mutating func note(_ cookie: StoredCookie, isAdded: Bool) {
        count += isAdded ? 1 : -1
        guard cookie.isSecure else { return }
        let others = secureNames[cookie.name, default: 0] + (isAdded ? 1 : -1)
        secureNames[cookie.name] = others > 0 ? others : nil
    }
}
#endif
