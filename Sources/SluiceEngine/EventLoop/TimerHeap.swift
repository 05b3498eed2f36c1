#if os(Linux)
import SluiceHTTP

/// A binary heap of deadlines, which can be moved or removed in logarithmic time.
///
/// It is specialized for the elements of other modules, whose calls would otherwise run the generic code.
package struct TimerHeap<Element> {
    /// The identity of a timer until it fires or is removed.
    package struct ID: Hashable, Sendable {
        fileprivate let slot: Int
        fileprivate let generation: UInt32
    }

    private struct Slot {
        var deadline = MonotonicTime.distantFuture
        var element: Element?
        var position = 0
        var generation: UInt32 = 0
    }

    private var slots: [Slot] = []
    private var freeSlots: [Int] = []
    /// The slot indices, ordered as a heap with the earliest deadline first.
    private var heap: [Int] = []

    package init() {}

    package var count: Int { heap.count }

    /// The earliest deadline, or the distant future if there are no timers.
    package var earliest: MonotonicTime {
        @_specialize(where Element == Int)
        get { heap.first.map { slots[$0].deadline } ?? .distantFuture }
    }

    @_specialize(where Element == Int)
    package mutating func insert(_ element: Element, at deadline: MonotonicTime) -> ID {
        let slot: Int
        if let free = freeSlots.popLast() {
            slot = free
        } else {
            slot = slots.count
            slots.append(Slot())
        }
        slots[slot].deadline = deadline
        slots[slot].element = element
        slots[slot].position = heap.count
        heap.append(slot)
        siftUp(heap.count - 1)
        return ID(slot: slot, generation: slots[slot].generation)
    }

    /// Changes the deadline of a timer. Returns false if it has fired or was removed.
    package mutating func move(_ id: ID, to deadline: MonotonicTime) -> Bool {
        guard contains(id) else { return false }
        let isEarlier = deadline < slots[id.slot].deadline
        slots[id.slot].deadline = deadline
        let position = slots[id.slot].position
        if isEarlier { siftUp(position) } else { siftDown(position) }
        return true
    }

    /// Removes a timer and returns its element, or nil if it has fired or was removed.
    @discardableResult
    @_specialize(where Element == Int)
    package mutating func remove(_ id: ID) -> Element? {
        contains(id) ? take(at: slots[id.slot].position) : nil
    }

    /// Removes and returns the timer with the earliest deadline if that is not after `now`.
    @_specialize(where Element == Int)
    package mutating func popExpired(at now: MonotonicTime) -> Element? {
        earliest <= now && !heap.isEmpty ? take(at: 0) : nil
    }

    private func contains(_ id: ID) -> Bool {
        slots.indices.contains(id.slot) && slots[id.slot].generation == id.generation
            && slots[id.slot].element != nil
    }

    private mutating func take(at position: Int) -> Element? {
        let slot = heap[position]
        let last = heap.removeLast()
        if position < heap.count {
            heap[position] = last
            slots[last].position = position
            siftDown(position)
            siftUp(slots[last].position)
        }
        slots[slot].generation &+= 1
        freeSlots.append(slot)
        return slots[slot].element.take()
    }

    private mutating func siftUp(_ start: Int) {
        var position = start
        while position > 0 {
            let parent = (position - 1) / 2
            guard slots[heap[position]].deadline < slots[heap[parent]].deadline else { return }
            swap(position, parent)
            position = parent
        }
    }

    private mutating func siftDown(_ start: Int) {
        var position = start
        while true {
            var least = position
            for child in 2 * position + 1...2 * position + 2
            where child < heap.count && slots[heap[child]].deadline < slots[heap[least]].deadline {
                least = child
            }
            if least == position { return }
            swap(position, least)
            position = least
        }
    }

    private mutating func swap(_ first: Int, _ second: Int) {
        heap.swapAt(first, second)
        slots[heap[first]].position = first
        slots[heap[second]].position = second
    }
}
#endif
