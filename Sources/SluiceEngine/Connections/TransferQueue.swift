#if os(Linux)
import SluiceHTTP

/// The queue of requests, with a limit on running requests for each host and in total.
///
/// Requests with a higher priority start first. Within one priority, hosts take turns. Within one host, requests start in the order of
/// arrival. A request with a low priority waits as long as requests with a higher one can start. If the maximum number of requests is
/// waiting, further ones are refused at once.
package struct TransferQueue<Host: Hashable, ID: Hashable, Element> {
    /// The result of ``admit(_:id:host:priority:)``.
    package enum Admission: Equatable {
        case admitted
        case waiting
        /// The maximum number of requests is already waiting.
        case refused
    }

    /// A waiting element. The number distinguishes it from an earlier element with the same identity.
    fileprivate struct Entry {
        let id: ID
        let number: Int
    }

    fileprivate struct HostQueue {
        /// The number of running elements of the host.
        var active = 0
        /// The entries by priority, the lowest first, in order of arrival. Entries of removed elements are skipped. Empty until an element
        /// waits.
        var queues: [ArrayQueue<Entry>] = []
    }

    /// The number of host queues above which empty ones are removed.
    private static var maximumHostQueues: Int { 1024 }

    private let limit: Int
    private let limitPerHost: Int
    private let maximumWaiting: Int
    private var hostQueues: [Host: HostQueue] = [:]
    /// The hosts with waiting elements, in the order of their turns, by priority, the lowest first.
    private var turns: [[Host]] = Array(repeating: [], count: RequestPriority.allCases.count)
    private var elements: [ID: (number: Int, element: Element)] = [:]
    private var lastNumber = 0
    /// The number of entries of removed elements.
    private var staleEntries = 0
    /// The number of running elements.
    package private(set) var active = 0

    package init(limit: Int, limitPerHost: Int, maximumWaiting: Int = .max) {
        self.limit = max(1, limit)
        self.limitPerHost = max(1, limitPerHost)
        self.maximumWaiting = max(0, maximumWaiting)
    }

    /// The waiting elements, in no order.
    package var waiting: some Collection<Element> { elements.values.lazy.map(\.element) }

    /// The number of entries in all queues, including those of removed elements.
    package var entryCount: Int {
        hostQueues.values.reduce(0) { $0 + $1.queues.reduce(0) { $0 + $1.count } }
    }

    /// Starts an element, adds it to the queue of its host, or refuses it.
    package mutating func admit(_ element: Element, id: ID, host: Host, priority: RequestPriority = .normal)
        -> Admission
    {
        if active < limit {
            // A copy, because changes inside a dictionary allocate the frames of coroutines.
            var hostQueue = hostQueues[host] ?? HostQueue()
            if hostQueue.active < limitPerHost {
                hostQueue.active += 1
                hostQueues[host] = hostQueue
                active += 1
                return .admitted
            }
        }
        guard elements.count < maximumWaiting else { return .refused }
        lastNumber += 1
        elements[id] = (lastNumber, element)
        let level = Int(priority.rawValue)
        if hostQueues[host, default: HostQueue()].append(Entry(id: id, number: lastNumber), level) {
            turns[level].append(host)
        }
        return .waiting
    }

    /// Removes a waiting element. Returns nil if it is not waiting.
    package mutating func remove(_ id: ID) -> Element? {
        guard let element = elements.removeValue(forKey: id)?.element else { return nil }
        staleEntries += 1
        if staleEntries > max(64, elements.count, hostQueues.count) { compact() }
        return element
    }

    /// Releases the slot of an element. Returns the element that may start in its place.
    package mutating func release(host: Host) -> Element? {
        active -= 1
        if var hostQueue = hostQueues[host] {
            hostQueue.active -= 1
            hostQueues[host] = hostQueue
            removeIfUnneeded(host)
        }
        guard active < limit else { return nil }
        for level in turns.indices.reversed() where !turns[level].isEmpty {
            if let next = next(level) { return next }
        }
        return nil
    }

    /// Starts the next element of a priority whose host has a free slot.
    private mutating func next(_ level: Int) -> Element? {
        var index = 0
        while index < turns[level].count {
            let host = turns[level][index]
            // Takes the value out of the dictionary, because a change to a copy would copy the queues.
            guard let running = hostQueues[host]?.active, running < limitPerHost,
                var hostQueue = hostQueues.updateValue(HostQueue(), forKey: host)
            else {
                index += 1
                continue
            }
            var found: Element?
            while found == nil, let entry = hostQueue.queues[level].popFirst() {
                if elements[entry.id]?.number == entry.number {
                    found = elements.removeValue(forKey: entry.id)?.element
                } else {
                    staleEntries -= 1
                }
            }
            turns[level].remove(at: index)
            if !hostQueue.queues[level].isEmpty { turns[level].append(host) }
            if found != nil {
                hostQueue.active += 1
                active += 1
            }
            hostQueues[host] = hostQueue
            if found != nil { return found }
            removeIfUnneeded(host)
        }
        return nil
    }

    /// Removes the queue of a host if it is empty and there are too many queues.
    private mutating func removeIfUnneeded(_ host: Host) {
        guard hostQueues.count > TransferQueue.maximumHostQueues, hostQueues[host]?.isEmpty == true else { return }
        hostQueues[host] = nil
    }

    /// Removes the entries of removed elements. This happens once they outnumber the waiting elements, so the average cost is constant.
    private mutating func compact() {
        staleEntries = 0
        let elements = elements
        for host in hostQueues.keys {
            hostQueues[host]?.filterEntries { elements[$0.id]?.number == $0.number }
        }
        for level in turns.indices {
            turns[level].removeAll { hostQueues[$0].map { $0.queues[level].isEmpty } ?? true }
        }
        if hostQueues.count > TransferQueue.maximumHostQueues { hostQueues = hostQueues.filter { !$0.value.isEmpty } }
    }
}

extension TransferQueue.HostQueue {
    fileprivate var isEmpty: Bool { active == 0 && queues.allSatisfy(\.isEmpty) }

    fileprivate mutating func filterEntries(_ isIncluded: (TransferQueue.Entry) -> Bool) {
        for level in queues.indices where !queues[level].isEmpty { queues[level].removeAll { !isIncluded($0) } }
    }

    /// Adds an entry at the end of its priority. Returns true if it is the first.
    fileprivate mutating func append(_ entry: TransferQueue.Entry, _ level: Int) -> Bool {
        if queues.isEmpty { queues = Array(repeating: .init(), count: RequestPriority.allCases.count) }
        defer { queues[level].append(entry) }
        return queues[level].isEmpty
    }
}

// MARK: - Start queue

/// The requests that received a connection on the thread of a loop, and that are not sent yet.
///
/// The loop sends them after the events that it is handling. Until then, a caller whose own request has to wait sends the next one.
/// Otherwise the loop would send and receive all requests beyond the limit, while the threads of the callers would wait for responses.
struct StartQueue<Element> {
    private struct Loop {
        var elements = ArrayQueue<Element>()
        /// True if the loop was asked to send the requests, and has not begun.
        var isAsked = false
    }

    private var loops: [Loop]

    init(loops count: Int) {
        loops = Array(repeating: Loop(), count: count)
    }

    /// Adds a request.
    ///
    /// - Parameters:
    ///   - element: The request and its connection.
    ///   - loop: The index of the current loop.
    /// - Returns: True if the loop must send the requests later.
    mutating func append(_ element: Element, on loop: Int) -> Bool {
        loops[loop].elements.append(element)
        defer { loops[loop].isAsked = true }
        return !loops[loop].isAsked
    }

    /// Begins to send the requests of a loop. Returns their number. The next ``append(_:on:)`` returns true.
    mutating func begin(on loop: Int) -> Int {
        loops[loop].isAsked = false
        return loops[loop].elements.count
    }

    /// Removes the oldest request of a loop.
    mutating func popFirst(of loop: Int) -> Element? { loops[loop].elements.popFirst() }

    /// Removes the oldest request of any loop.
    mutating func popFirst() -> Element? {
        guard let loop = loops.firstIndex(where: { !$0.elements.isEmpty }) else { return nil }
        return popFirst(of: loop)
    }
}

// MARK: - Array queue

/// A first-in, first-out queue.
struct ArrayQueue<Element> {
    /// The number of elements whose memory an empty queue may keep.
    static var keptCapacity: Int { 128 }

    /// The elements, after nil for each one that has been removed.
    private var elements: [Element?] = []
    /// The index of the first element.
    private var next = 0

    var count: Int { elements.count - next }
    var capacity: Int { elements.capacity }
    var isEmpty: Bool { next == elements.count }

    mutating func append(_ element: Element) { elements.append(element) }

    mutating func removeAll(where isRemoved: (Element) -> Bool) {
        elements = elements[next...].filter { $0.map(isRemoved) == false }
        next = 0
    }

    /// Removes the first element. The consumed half of the array is removed at once, so the average cost is constant.
    mutating func popFirst() -> Element? {
        guard next < elements.count else { return nil }
        defer {
            next += 1
            if next == elements.count {
                elements.removeAll(keepingCapacity: elements.capacity <= Self.keptCapacity)
                next = 0
            } else if next >= 64, next * 2 >= elements.count {
                elements.removeFirst(next)
                next = 0
            }
        }
        return elements[next].take()
    }
}
#endif
