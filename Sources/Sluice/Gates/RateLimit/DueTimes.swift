/// A binary heap of keys, ordered by the time at which they are due, the earliest first.
struct DueTimes {
    typealias Entry = (time: ContinuousClock.Instant, key: String)

    private var heap: [Entry] = []

    /// The earliest entry.
    var first: Entry? { heap.first }
    /// The number of entries.
    var count: Int { heap.count }

    mutating func insert(_ key: String, at time: ContinuousClock.Instant) {
        heap.append((time, key))
        var child = heap.count - 1
        while child > 0 {
            let parent = (child - 1) / 2
            if heap[parent].time <= heap[child].time { break }
            heap.swapAt(parent, child)
            child = parent
        }
    }

    mutating func removeFirst() {
        guard let last = heap.popLast(), !heap.isEmpty else { return }
        heap[0] = last
        var parent = 0
        while true {
            var child = 2 * parent + 1
            if child >= heap.count { break }
            if child + 1 < heap.count, heap[child + 1].time < heap[child].time { child += 1 }
            if heap[parent].time <= heap[child].time { break }
            heap.swapAt(parent, child)
            parent = child
        }
    }
}
