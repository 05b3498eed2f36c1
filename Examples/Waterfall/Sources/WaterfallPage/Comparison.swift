/// Two recordings of the same session, request by request.
struct Comparison {
    /// A request of both recordings, or of one of them.
    struct Pair {
        let before: Waterfall.Group?
        let after: Waterfall.Group?

        /// The change of the time; nil if one recording lacks the request.
        var change: Change? {
            guard let before, let after else { return nil }
            return Change(from: before.duration, to: after.duration)
        }

        /// True if the final status differs.
        var isStatusChanged: Bool {
            guard let before = before?.rows.last, let after = after?.rows.last else { return false }
            return before.statusLabel != after.statusLabel
        }

        /// The longer duration, in milliseconds.
        var duration: Double { max(before?.duration ?? 0, after?.duration ?? 0) }
        /// The group that names the pair.
        var group: Waterfall.Group? { after ?? before }

        /// The style classes, by which pairs are filtered.
        var classes: [String] {
            var classes: [String] = []
            if change == .slower { classes.append("slower") }
            if change == .faster { classes.append("faster") }
            if isStatusChanged { classes.append("changed") }
            if before == nil { classes.append("added") }
            if after == nil { classes.append("gone") }
            return classes
        }
    }

    /// The kinds of changes of a time.
    enum Change {
        case similar, slower, faster

        /// The minimum change in milliseconds. A smaller one is noise.
        private static let leastTime = 5.0
        /// The minimum change as a share of the earlier time.
        private static let leastShare = 0.1

        init(from before: Double, to after: Double) {
            let isLarge = abs(after - before) >= max(Change.leastTime, before * Change.leastShare)
            self = !isLarge ? .similar : after > before ? .slower : .faster
        }
    }

    let before: Waterfall
    let after: Waterfall
    /// The requests in the order of the later recording. A request that it lacks follows the one that it followed before.
    let pairs: [Pair]

    /// Compares two recordings. Requests with the same method and URL belong together in the order in which they began,
    /// then those whose URLs differ in the port only.
    init(before: Waterfall, after: Waterfall) {
        self.before = before
        self.after = after
        let partners = Comparison.partners(before.groups.map(Key.init), after.groups.map(Key.init))
        let places = Dictionary(
            partners.enumerated().compactMap { place, partner in partner.map { ($0, place) } },
            uniquingKeysWith: { first, _ in first }
        )
        // The requests that are gone, by the place of the request before them.
        var gone: [Int: [Waterfall.Group]] = [:]
        var place = -1
        for (index, group) in before.groups.enumerated() {
            if let partner = places[index] { place = partner } else { gone[place, default: []].append(group) }
        }
        var pairs = (gone[-1] ?? []).map { Pair(before: $0, after: nil) }
        for (index, group) in after.groups.enumerated() {
            pairs.append(Pair(before: partners[index].map { before.groups[$0] }, after: group))
            pairs += (gone[index] ?? []).map { Pair(before: $0, after: nil) }
        }
        self.pairs = pairs
    }

    /// Returns the index of the earlier request for each later one; nil for those that are new.
    private static func partners(_ before: [Key], _ after: [Key]) -> [Int?] {
        var partners: [Int?] = Array(repeating: nil, count: after.count)
        var isTaken = Array(repeating: false, count: before.count)
        // The second time without the ports, as a server of a test has another one each time.
        for path in [\Key.url, \Key.urlWithoutPort] {
            var waiting: [[String]: [Int]] = [:]
            for index in before.indices.reversed() where !isTaken[index] {
                waiting[[before[index].method, before[index][keyPath: path]], default: []].append(index)
            }
            for index in after.indices where partners[index] == nil {
                guard let partner = waiting[[after[index].method, after[index][keyPath: path]]]?.popLast() else {
                    continue
                }
                partners[index] = partner
                isTaken[partner] = true
            }
        }
        return partners
    }

    /// The parts of a request by which it is found in another recording.
    private struct Key {
        let method: String
        let url: String
        let urlWithoutPort: String

        init(_ group: Waterfall.Group) {
            method = group.rows.first?.entry.request.method ?? ""
            url = group.rows.first?.entry.request.url ?? ""
            let parts = PageURL(url)
            var origin = parts.origin[...]
            let port = origin.utf8.reversed().prefix { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }.count
            let rest = origin.dropLast(port)
            if port > 0, rest.last == ":" { origin = rest.dropLast() }
            urlWithoutPort = origin + parts.path + parts.query
        }
    }
}
