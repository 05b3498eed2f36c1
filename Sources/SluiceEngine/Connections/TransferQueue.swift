import SluiceHTTP

/// The requests that may start and those that wait, with a limit for each host and one in all.
///
/// A higher priority goes first, within one priority hosts take turns, and within one host requests start in the order of arrival. A
/// request of low priority waits as long as others of a higher one may start. Beyond a number of waiting requests, further ones are
/// refused at once.
package struct TransferQueue<Host: Hashable, ID: Hashable, Element> {
    package enum Admission: Equatable {
        case admitted
        case waiting
        /// As many wait as may.
        case refused
    }

    /// A place in a line. The number tells it from one of an element that left and whose identity was used again.
    fileprivate struct Place {
        let id: ID
        let number: Int
    }

    /// The places of one host and one priority, in order of arrival; places of elements that have left are skipped.
    fileprivate struct Places {
        var waiting: [Place] = []
        var next = 0
    }

    fileprivate struct Line {
        var active = 0
        /// By priority, the lowest first; empty where nobody has waited yet.
        var places: [Places] = []
    }

    /// The number of lines up to which empty ones are kept.
    private static var maximumLines: Int { 1024 }

    private let limit: Int
    private let limitPerHost: Int
    private let maximumWaiting: Int
    private var lines: [Host: Line] = [:]
    /// By priority, the lowest first: the hosts for which elements wait, the one whose turn is next in front.
    private var turns: [[Host]] = Array(repeating: [], count: RequestPriority.allCases.count)
    private var elements: [ID: (number: Int, element: Element)] = [:]
    private var lastNumber = 0
    /// The places of elements that have left.
    private var vacancies = 0
    package private(set) var active = 0

    package init(limit: Int, limitPerHost: Int, maximumWaiting: Int = .max) {
        self.limit = max(1, limit)
        self.limitPerHost = max(1, limitPerHost)
        self.maximumWaiting = max(0, maximumWaiting)
    }

    package var waiting: some Collection<Element> { elements.values.lazy.map(\.element) }

    /// The places in all lines, those of elements that have left among them.
    package var places: Int { lines.values.reduce(0) { $0 + $1.places.reduce(0) { $0 + $1.waiting.count - $1.next } } }

    /// Lets an element start at once, or wait in its host's line, or refuses it.
    package mutating func admit(_ element: Element, id: ID, host: Host, priority: RequestPriority = .normal)
        -> Admission
    {
        if active < limit, lines[host, default: Line()].occupy(upTo: limitPerHost) {
            active += 1
            return .admitted
        }
        guard elements.count < maximumWaiting else { return .refused }
        lastNumber += 1
        elements[id] = (lastNumber, element)
        let level = Int(priority.rawValue)
        if lines[host, default: Line()].append(Place(id: id, number: lastNumber), level) { turns[level].append(host) }
        return .waiting
    }

    /// Takes an element out of its line; nil if it is not waiting.
    package mutating func remove(_ id: ID) -> Element? {
        guard let element = elements.removeValue(forKey: id)?.element else { return nil }
        vacancies += 1
        if vacancies > max(64, elements.count, lines.count) { closeUp() }
        return element
    }

    /// Gives back the slot of an element that had been admitted; returns the one that may start in its place.
    package mutating func release(host: Host) -> Element? {
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
                if elements[place.id]?.number == place.number {
                    found = elements.removeValue(forKey: place.id)?.element
                } else {
                    vacancies -= 1
                }
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

    /// Removes the places of elements that have left. Done once they are more than those that wait, so that it is cheap in the long run.
    private mutating func closeUp() {
        vacancies = 0
        let elements = elements
        for host in lines.keys {
            lines[host]?.keep { elements[$0.id]?.number == $0.number }
        }
        for level in turns.indices {
            turns[level].removeAll { lines[$0].map { $0.places[level].isEmpty } ?? true }
        }
        if lines.count > TransferQueue.maximumLines { lines = lines.filter { !$0.value.isEmpty } }
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

    fileprivate mutating func keep(_ isKept: (TransferQueue.Place) -> Bool) {
        for level in places.indices where !places[level].isEmpty { places[level].keep(isKept) }
    }

    /// Takes a place behind the others of its priority; returns true if there are none.
    fileprivate mutating func append(_ place: TransferQueue.Place, _ level: Int) -> Bool {
        if places.isEmpty { places = Array(repeating: .init(), count: RequestPriority.allCases.count) }
        defer { places[level].waiting.append(place) }
        return places[level].isEmpty
    }
}

extension TransferQueue.Places {
    fileprivate var isEmpty: Bool { next == waiting.count }

    fileprivate mutating func keep(_ isKept: (TransferQueue.Place) -> Bool) {
        waiting = waiting[next...].filter(isKept)
        next = 0
    }

    /// Takes the first in line; the array's used front half goes at once, so that this is cheap in the long run.
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
