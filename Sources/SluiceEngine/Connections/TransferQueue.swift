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

    /// The entries of one host and one priority, in order of arrival. Entries of removed elements are skipped.
    fileprivate struct EntryQueue {
        var entries: [Entry] = []
        /// The index of the first entry that has not been removed.
        var next = 0
    }

    fileprivate struct HostQueue {
        /// The number of running elements of the host.
        var active = 0
        /// The entries by priority, the lowest first. Empty until an element waits.
        var queues: [EntryQueue] = []
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
        hostQueues.values.reduce(0) { $0 + $1.queues.reduce(0) { $0 + $1.entries.count - $1.next } }
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
            guard var hostQueue = hostQueues[host], hostQueue.active < limitPerHost else {
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
        for level in queues.indices where !queues[level].isEmpty { queues[level].filterEntries(isIncluded) }
    }

    /// Adds an entry at the end of its priority. Returns true if it is the first.
    fileprivate mutating func append(_ entry: TransferQueue.Entry, _ level: Int) -> Bool {
        if queues.isEmpty { queues = Array(repeating: .init(), count: RequestPriority.allCases.count) }
        defer { queues[level].entries.append(entry) }
        return queues[level].isEmpty
    }
}

extension TransferQueue.EntryQueue {
    fileprivate var isEmpty: Bool { next == entries.count }

    fileprivate mutating func filterEntries(_ isIncluded: (TransferQueue.Entry) -> Bool) {
        entries = entries[next...].filter(isIncluded)
        next = 0
    }

    /// Removes the first entry. The consumed half of the array is removed at once, so the average cost is constant.
    fileprivate mutating func popFirst() -> TransferQueue.Entry? {
        guard next < entries.count else { return nil }
        defer {
            next += 1
            if next == entries.count {
                entries.removeAll()
                next = 0
            } else if next >= 64, next * 2 >= entries.count {
                entries.removeFirst(next)
                next = 0
            }
        }
        return entries[next]
    }
}
#endif
