#if os(Linux)
import SluiceCache
import SluiceFoundation
import SluiceHTTP

/// A set of entries that can be removed at once, however many they are, by a change of its generation.
///
/// An entry is stored with the generations of all scopes that it belongs to, and is valid only as long as none of them has changed. A
/// generation that the server has lost counts as changed.
enum CacheScope: Sendable, Hashable {
    case everything
    case partition(String, CacheKey.Space)
    case tag(String)
    case tagOfPartition(String, String, CacheKey.Space)

    /// Returns the scopes that an entry belongs to, in the order in which their generations are stored.
    static func scopes(of key: CacheKey, tags: Set<String>) -> [CacheScope] {
        var scopes: [CacheScope] = [.everything, .partition(key.partition, key.space)]
        let tags = tags.count > 1 ? tags.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) } : Array(tags)
        for tag in tags { scopes += [.tag(tag), .tagOfPartition(tag, key.partition, key.space)] }
        return scopes
    }

    /// Returns the scopes whose generations a removal changes. They contain the selection, and more if it has a name but no partition.
    static func scopes(removedBy selection: CacheSelection) -> [CacheScope] {
        let spaces = selection.spaces ?? Set(CacheKey.Space.allCases)
        let ordered = spaces.sorted { $0.rawValue < $1.rawValue }.filter { $0 != .memoryValues }
        switch (selection.tag, selection.partition) {
        case (let tag?, let partition?): return ordered.map { .tagOfPartition(tag, partition, $0) }
        case (let tag?, nil): return [.tag(tag)]
        case (nil, let partition?): return ordered.map { .partition(partition, $0) }
        case (nil, nil): return [.everything]
        }
    }

    /// A text that no other scope has, in bytes.
    var text: String {
        switch self {
        case .everything: "a"
        case .partition(let partition, let space): "p\(space.rawValue) \(partition)"
        case .tag(let tag): "t\(tag)"
        case .tagOfPartition(let tag, let partition, let space):
            "q\(space.rawValue) \(tag.utf8.count) \(tag)\(partition)"
        }
    }
}

/// A generation of a scope: the server's time in microseconds at which it began, and its reason.
struct CacheGeneration: Sendable, Hashable {
    /// Twice the time, plus one if the generation began with a removal.
    let value: Int64

    /// True if a removal at or after a time, in seconds since 1970, began the generation. A response to a request from that time may be
    /// older than the removal.
    func isRemoval(since time: Double) -> Bool {
        value & 1 == 1 && Double(value >> 1) / 1e6 >= time - Self.clockTolerance
    }

    /// The assumed error of a server's time that was computed on this machine, in seconds.
    static let clockTolerance = 0.05
}

/// The generations that this process knows, by their names on the server.
struct GenerationTable {
    /// The maximum number of generations. Beyond it, all are forgotten and read again.
    static let limit = 65_536

    private var generations: [String: (generation: CacheGeneration, isOwn: Bool)] = [:]

    subscript(name: String) -> CacheGeneration? { generations[name]?.generation }

    /// True if this process has begun a generation. The store itself then knows which responses are older.
    func isOwn(_ generation: CacheGeneration, of name: String) -> Bool {
        generations[name].map { $0.isOwn && $0.generation == generation } ?? false
    }

    /// Records a generation. A later one is kept, because replies of the server can arrive after the news of a change.
    mutating func record(_ generation: CacheGeneration, of name: String, isOwn: Bool = false) {
        if let known = generations[name]?.generation, known.value >= generation.value { return }
        if generations.count >= Self.limit { generations = [:] }
        generations[name] = (generation, isOwn)
    }

    mutating func forgetAll() {
        generations = [:]
    }
}

// MARK: - Server time

/// The server's time, computed from a sample and the time since.
///
/// The clocks of the machines may differ by minutes. All times that they share are therefore the server's. The computation does not use this
/// machine's date, so that setting it has no effect.
struct ServerTime: Sendable {
    /// The server's time in seconds since 1970.
    private let seconds: Double
    private let taken: ContinuousClock.Instant

    /// Creates the time from a reply to `TIME`; nil for another reply.
    ///
    /// - Parameters:
    ///   - reply: The reply.
    ///   - sent: The instant at which the command was sent.
    ///   - received: The instant at which the reply arrived.
    init?(_ reply: RedisValue, sent: ContinuousClock.Instant, received: ContinuousClock.Instant) {
        guard let elements = reply.elements, elements.count == 2, let seconds = elements[0].int,
            let microseconds = elements[1].int,
            (1..<1 << 40).contains(seconds), (0..<1_000_000).contains(microseconds)
        else { return nil }
        self.seconds = Double(seconds) + Double(microseconds) / 1e6
        taken = sent + (received - sent) / 2
    }

    /// True if the sample is so recent that the clocks cannot have drifted apart.
    func isRecent(at now: ContinuousClock.Instant) -> Bool { now - taken < .seconds(60) }

    /// Returns the seconds by which the server's clock is ahead of this machine's.
    func offset(on clock: any SluiceClock) -> Double {
        seconds + (clock.now - taken) / .seconds(1) - clock.date.timeIntervalSince1970
    }
}
#endif
