#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Where a transport keeps the cookies of one jar.
package protocol CookieStorage: Sendable {
    /// Makes a change and tells what there is then, nil where it cannot; in the order of the calls, from any thread and to any thread.
    func perform(_ change: CookieChange, _ completion: @escaping @Sendable ([CookieLine]?) -> Void)
}

/// What can be done to a jar's cookies.
package enum CookieChange: Sendable {
    case none
    /// Each replaces its like; one that has ended removes it.
    case add([CookieLine])
    /// Those that have their like are left out.
    case addMissing([CookieLine])
    case removeAll

    /// What has to be added to what there is.
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

/// The cookies of a jar that no transport keeps yet.
package struct CookieList: Sendable, Hashable {
    package private(set) var lines: [CookieLine] = []

    package init() {}

    package mutating func apply(_ change: CookieChange, now: Date = Date()) {
        if case .removeAll = change { lines = [] }
        let additions = change.additions(to: lines)
        if !additions.isEmpty {
            var places = Dictionary(lines.enumerated().map { ($1.key, $0) }, uniquingKeysWith: { $1 })
            for line in additions {
                if let place = places[line.key] {
                    lines[place] = line
                } else {
                    places[line.key] = lines.count
                    lines.append(line)
                }
            }
        }
        lines.removeAll { line in line.cookie.expires.map { $0 <= now } ?? false }
    }
}
