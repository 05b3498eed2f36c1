import SluiceHTTP

/// The queue of requests, with a limit on running requests for each host and in total.
///
/// Requests with a higher priority start first. Within one priority, hosts take turns. Within one host, requests start in the order of
/// arrival. A request with a low priority waits as long as requests with a higher one can start. If the maximum number of requests is
/// waiting, further ones are refused at once.
package struct TransferQueue<Host: Hashable, ID: Hashable, Element> {
    package enum Admission: Equatable {
        case admitted
        case waiting
        /// The maximum number of requests is already waiting.
        case refused
    }

    /// A place in the queue. The number distinguishes it from an earlier place whose element had the same identity.
    fileprivate struct Place {
        let id: ID
        let number: Int
    }

    /// The places of one host and one priority, in order of arrival. Places of removed elements are skipped.
    fileprivate struct Places {
        var waiting: [Place] = []
        var next = 0
    }

    fileprivate struct Line {
        var active = 0
        /// The places by priority, the lowest first. Empty until an element waits.
        var places: [Places] = []
    }

    /// The number of queues up to which empty ones are kept for reuse.
    private static var maximumLines: Int { 1024 }

    private let limit: Int
    private let limitPerHost: Int
    private let maximumWaiting: Int
    private var lines: [Host: Line] = [:]
    /// The hosts with waiting elements, in the order of their turns, by priority, the lowest first.
    private var turns: [[Host]] = Array(repeating: [], count: RequestPriority.allCases.count)
    private var elements: [ID: (number: Int, element: Element)] = [:]
    private var lastNumber = 0
    /// The number of places of removed elements.
    private var vacancies = 0
    package private(set) var active = 0

    package init(limit: Int, limitPerHost: Int, maximumWaiting: Int = .max) {
        self.limit = max(1, limit)
        self.limitPerHost = max(1, limitPerHost)
        self.maximumWaiting = max(0, maximumWaiting)
    }

    package var waiting: some Collection<Element> { elements.values.lazy.map(\.element) }

    /// The number of places in all queues, including those of removed elements.
    package var places: Int { lines.values.reduce(0) { $0 + $1.places.reduce(0) { $0 + $1.waiting.count - $1.next } } }

    /// Starts an element, adds it to the queue of its host, or refuses it.
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

    /// Removes a waiting element. Returns nil if it is not waiting.
    package mutating func remove(_ id: ID) -> Element? {
        guard let element = elements.removeValue(forKey: id)?.element else { return nil }
        vacancies += 1
        if vacancies > max(64, elements.count, lines.count) { closeUp() }
        return element
    }

    /// Releases the slot of an element. Returns the element that may start in its place.
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

    /// Removes the places of removed elements. This happens once they outnumber the waiting elements, so the average cost is constant.
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

    /// Takes a slot if one is free.
    fileprivate mutating func occupy(upTo limit: Int) -> Bool {
        guard active < limit else { return false }
        active += 1
        return true
    }

    fileprivate mutating func keep(_ isKept: (TransferQueue.Place) -> Bool) {
        for level in places.indices where !places[level].isEmpty { places[level].keep(isKept) }
    }

    /// Adds a place at the end of its priority. Returns true if it is the first.
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

    /// Removes the first place. The consumed half of the array is removed at once, so the average cost is constant.
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
