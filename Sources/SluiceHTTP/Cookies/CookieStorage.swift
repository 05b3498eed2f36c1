import SluiceFoundation

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
    case removeAll

    /// Returns the lines that the change adds to the given ones.
    package func additions(to lines: [CookieLine]) -> [CookieLine] {
        switch self {
        case .none, .removeAll: return []
        case .add(let added): return added
        case .addMissing(let added):
            let keys = Set(lines.map(\.key))
            return added.filter { !keys.contains($0.key) }
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
}
