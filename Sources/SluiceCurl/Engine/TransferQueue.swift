import SluiceHTTP

/// Who may start and who waits: a limit per host and in all. Of those that may start, a higher priority goes first, within one
/// priority hosts take turns, and within one host first come is first served.
///
/// Someone of a low priority waits for as long as there are others of a higher one that may start.
struct TransferQueue<Host: Hashable, ID: Hashable, Element> {
    /// A place in a line. The number tells it from one of somebody who left and whose identity was used again.
    fileprivate struct Place {
        let id: ID
        let number: Int
    }

    /// Those of one host and one priority that wait, in order of arrival; those that left are skipped when their turn comes.
    fileprivate struct Places {
        var waiting: [Place] = []
        var next = 0
    }

    fileprivate struct Line {
        var active = 0
        /// By priority, the lowest first; empty where nobody has waited yet.
        var places: [Places] = []
    }

    /// Lines of hosts with nobody in them are kept, up to a number that does not matter.
    private static var maximumLines: Int { 1024 }

    private let limit: Int
    private let limitPerHost: Int
    private var lines: [Host: Line] = [:]
    /// By priority, the lowest first: hosts with somebody waiting, the one whose turn is next in front.
    private var turns: [[Host]] = Array(repeating: [], count: RequestPriority.allCases.count)
    private var elements: [ID: (number: Int, element: Element)] = [:]
    private var lastNumber = 0
    private(set) var active = 0

    init(limit: Int, limitPerHost: Int) {
        self.limit = max(1, limit)
        self.limitPerHost = max(1, limitPerHost)
    }

    var waiting: some Collection<Element> { elements.values.lazy.map(\.element) }

    /// Whether an element may start at once; otherwise it waits in its host's line.
    mutating func admit(_ element: Element, id: ID, host: Host, priority: RequestPriority = .normal) -> Bool {
        if active < limit, lines[host, default: Line()].occupy(upTo: limitPerHost) {
            active += 1
            return true
        }
        lastNumber += 1
        elements[id] = (lastNumber, element)
        let level = Int(priority.rawValue)
        if lines[host, default: Line()].append(Place(id: id, number: lastNumber), level) { turns[level].append(host) }
        return false
    }

    /// Takes an element out of its line; nil if it is not waiting.
    mutating func remove(_ id: ID) -> Element? {
        elements.removeValue(forKey: id)?.element
    }

    /// Gives back the slot of an element that had been admitted, and picks whoever may start in its place.
    mutating func release(host: Host) -> Element? {
        active -= 1
        lines[host]?.active -= 1
        if lines.count > TransferQueue.maximumLines { lines = lines.filter { !$0.value.isEmpty } }
        guard active < limit else { return nil }
        for level in turns.indices.reversed() where !turns[level].isEmpty {
            if let next = next(level) { return next }
        }
        return nil
    }

    private mutating func next(_ level: Int) -> Element? {
        var index = 0
        while index < turns[level].count {
            let host = turns[level][index]
            guard var line = lines[host], line.active < limitPerHost else {
                index += 1
                continue
            }
            var found: Element?
            while found == nil, let place = line.places[level].popFirst() {
                if elements[place.id]?.number == place.number { found = remove(place.id) }
            }
            turns[level].remove(at: index)
            if !line.places[level].isEmpty { turns[level].append(host) }
            if found != nil {
                line.active += 1
                active += 1
            }
            lines[host] = line
            if found != nil { return found }
        }
        return nil
    }
}

extension TransferQueue.Line {
    fileprivate var isEmpty: Bool { active == 0 && places.allSatisfy(\.isEmpty) }

    /// Takes a slot if there is one.
    fileprivate mutating func occupy(upTo limit: Int) -> Bool {
        guard active < limit else { return false }
        active += 1
        return true
    }

    /// Takes a place behind the others of its priority; whether there are none.
    fileprivate mutating func append(_ place: TransferQueue.Place, _ level: Int) -> Bool {
        if places.isEmpty { places = Array(repeating: .init(), count: RequestPriority.allCases.count) }
        defer { places[level].waiting.append(place) }
        return places[level].isEmpty
    }
}

extension TransferQueue.Places {
    fileprivate var isEmpty: Bool { next == waiting.count }

    /// Takes the first in line; the array gives up its used front half in one go, so that this is cheap in the long run.
    fileprivate mutating func popFirst() -> TransferQueue.Place? {
        guard next < waiting.count else { return nil }
        defer {
            next += 1
            if next == waiting.count {
                waiting.removeAll()
                next = 0
            } else if next >= 64, next * 2 >= waiting.count {
                waiting.removeFirst(next)
                next = 0
            }
        }
        return waiting[next]
    }
}
