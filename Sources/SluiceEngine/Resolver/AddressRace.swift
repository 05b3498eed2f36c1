#if os(Linux)
import SluiceHTTP

/// Connection attempts to the addresses of a host, of which the first to succeed wins (RFC 8305).
///
///     next(at:) ──► attempt 0 ──┬─ failed: the next attempt at once
///                               ├─ delay passed: the next attempt beside it
///                               └─ connected: won, the other attempts are abandoned ── the winner fails: the next attempt
///
/// The IP versions alternate, starting with the version of the first address (§4). Each attempt has a head start of `delay` (§5). The
/// delay never ends an attempt, so all attempts may run at the same time, unless the caller abandons the oldest. The caller repeats
/// ``next(at:)`` until the action is to wait or the race is over, and calls it again after each event and at the returned time.
///
/// Cached addresses may no longer be those of the host. If all attempts have failed, or a second after the last has started, the caller
/// looks the name up once more. Its new addresses join the race.
package struct AddressRace: Sendable {
    /// The next action of the caller.
    package enum Action: Equatable, Sendable {
        /// Start to connect to the address, and report events of the attempt with the index.
        case attempt(Int, SocketAddress)
        /// Wait for an event or until the time, which is the distant future once all attempts have been started.
        case wait(until: MonotonicTime)
        /// Use the connection of the attempt, and close those of the others.
        case won(Int, abandon: [Int])
        /// Look the name up without the cache, and call ``add(_:at:)``, also if the look-up fails.
        case lookUpAgain
        case failed
    }

    /// The minimum delay (RFC 8305 §5).
    private static var minimumDelay: Duration { .milliseconds(10) }
    /// The age from which an attempt may be abandoned, or cached addresses may be outdated. A server that is far away may take nearly as
    /// long to answer.
    private static var maximumAge: Duration { .seconds(1) }

    /// The state of the second look-up of cached addresses.
    private enum Refresh {
        case possible
        case running
        case none
    }

    private var addresses: [SocketAddress]
    private let delay: Duration
    private let limit: Int
    private var refresh: Refresh
    private var starts: [MonotonicTime] = []
    /// The time of the next attempt, if no failure moves it forward.
    private var nextAttempt: MonotonicTime?
    /// The attempts that have neither failed nor been abandoned, in the order of their start.
    private var open: [Int] = []
    /// The connected attempts, in the order in which they connected.
    private var connected: [Int] = []
    private var winner: Int?
    /// The attempts that ran when another one connected.
    private var abandoned: [Int] = []

    /// Creates a race.
    ///
    /// - Parameters:
    ///   - addresses: The addresses in the resolver's order. Duplicates are removed, and the versions alternate.
    ///   - delay: The time between the starts of two attempts.
    ///   - limit: The maximum number of addresses of a look-up that are tried.
    ///   - areCached: True if the addresses are from a cache.
    package init(
        _ addresses: [SocketAddress],
        delay: Duration = .milliseconds(200),
        limit: Int = 32,
        areCached: Bool = false
    ) {
        self.limit = max(1, limit)
        self.addresses = AddressRace.interleaved(addresses, limit: self.limit)
        self.delay = max(delay, AddressRace.minimumDelay)
        refresh = areCached ? .possible : .none
    }

    /// True once an attempt has connected or all attempts have failed.
    package var isOver: Bool {
        winner != nil || !connected.isEmpty || (refresh == .none && starts.count == addresses.count && open.isEmpty)
    }

    /// The attempts that have been started and have neither failed nor been abandoned.
    package var running: [Int] { open.filter { $0 != winner } }

    /// Returns the next action, or the outcome once the race is over.
    package mutating func next(at now: MonotonicTime) -> Action {
        if let winner { return .won(winner, abandon: []) }
        if let first = connected.first {
            winner = first
            abandoned = open.filter { $0 != first }
            open = [first]
            return .won(first, abandon: abandoned)
        }
        let index = starts.count
        if index == addresses.count { return nextWithoutAddress(at: now) }
        if let nextAttempt, nextAttempt > now { return .wait(until: nextAttempt) }
        starts.append(now)
        open.append(index)
        nextAttempt = now + delay
        return .attempt(index, addresses[index])
    }

    /// Returns the next action once all attempts have been started.
    private mutating func nextWithoutAddress(at now: MonotonicTime) -> Action {
        switch refresh {
        case .none: return open.isEmpty ? .failed : .wait(until: .distantFuture)
        case .running: return .wait(until: .distantFuture)
        case .possible:
            let due = open.isEmpty ? now : (starts.last ?? now) + AddressRace.maximumAge
            if due > now { return .wait(until: due) }
            refresh = .running
            return .lookUpAgain
        }
    }

    /// Adds the addresses of a second look-up. Those that are new are tried at once.
    package mutating func add(_ found: [SocketAddress], at now: MonotonicTime) {
        refresh = .none
        addresses += AddressRace.interleaved(found.filter { !addresses.contains($0) }, limit: limit)
        nextAttempt = now
    }

    /// Records a failed attempt, whose connection the caller closes. The next attempt starts at once.
    package mutating func attemptFailed(_ index: Int, at now: MonotonicTime) {
        guard winner == nil, let position = open.firstIndex(of: index) else { return }
        open.remove(at: position)
        connected.removeAll { $0 == index }
        nextAttempt = now
    }

    /// Abandons the oldest of the attempts before the last, and returns it; nil if there is none that has run for a second.
    package mutating func abandonOldest(at now: MonotonicTime) -> Int? {
        guard winner == nil, connected.isEmpty, open.count > 1, let oldest = open.first,
            now.since(starts[oldest]) >= AddressRace.maximumAge
        else { return nil }
        return open.removeFirst()
    }

    /// Records that an attempt, which may have had to wait for a descriptor, begins to connect.
    package mutating func attemptBegan(_ index: Int, at now: MonotonicTime) {
        starts[index] = now
    }

    /// Records a connected attempt. The first one wins.
    package mutating func attemptConnected(_ index: Int) {
        guard winner == nil, open.contains(index), !connected.contains(index) else { return }
        connected.append(index)
    }

    /// Records that the connection of the winner was of no use. The race goes on with the addresses that were not tried and, after these,
    /// with those that were abandoned.
    package mutating func winnerFailed(at now: MonotonicTime) {
        guard winner != nil else { return }
        addresses += abandoned.map { addresses[$0] }
        (winner, open, connected, abandoned) = (nil, [], [], [])
        nextAttempt = now
    }

    /// Returns the addresses without duplicates, alternating between the IP versions, starting with the first address.
    private static func interleaved(_ addresses: [SocketAddress], limit: Int) -> [SocketAddress] {
        var seen: Set<SocketAddress> = []
        let unique = addresses.filter { seen.insert($0).inserted }
        let firsts = unique.filter { $0.address.isIPv4 == unique.first?.address.isIPv4 }
        let others = unique.filter { $0.address.isIPv4 != unique.first?.address.isIPv4 }
        var result: [SocketAddress] = []
        for index in 0..<max(firsts.count, others.count) where result.count < limit {
            if index < firsts.count { result.append(firsts[index]) }
            if index < others.count { result.append(others[index]) }
        }
        return Array(result.prefix(limit))
    }
}
#endif
