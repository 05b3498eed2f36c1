import SluiceHTTP

/// A first-in, first-out queue of waiters, from which any waiter can be removed.
///
/// Appending takes constant time and removing by number logarithmic time, amortized. Memory stays
/// proportional to the number of waiters.
package struct WaitQueue<Waiter> {
    fileprivate struct Slot {
        let id: Int
        /// Nil after the waiter has been admitted or removed.
        var waiter: Waiter?
    }

    private var slots: [Slot] = []
    private var head = 0
    /// The number of waiters.
    package private(set) var count = 0

    /// Creates an empty queue.
    package init() {}

    /// The number of allocated slots, including empty ones.
    var slotCount: Int { slots.count }
    /// True if the queue has no waiters.
    package var isEmpty: Bool { count == 0 }

    /// The waiter at the front.
    package var first: Waiter? {
        for slot in slots[head...] {
            if let waiter = slot.waiter { return waiter }
        }
        return nil
    }

    /// Inserts a waiter in the order of the numbers. The number is usually the highest, so the waiter is appended.
    ///
    /// - Parameters:
    ///   - waiter: The waiter.
    ///   - id: A number that no other waiter in the queue has.
    package mutating func append(_ waiter: Waiter, id: Int) {
        var index = slots.count
        while index > head, slots[index - 1].id > id { index -= 1 }
        slots.insert(Slot(id: id, waiter: waiter), at: index)
        count += 1
    }

    /// Removes and returns the waiter at the front.
    package mutating func popFirst() -> Waiter? {
        while head < slots.count {
            let waiter = slots[head].waiter.take()
            head += 1
            guard let waiter else { continue }
            count -= 1
            compact()
            return waiter
        }
        return nil
    }

    /// Removes and returns the waiter with a number; nil if it is no longer in the queue.
    package mutating func remove(id: Int) -> Waiter? {
        var low = head
        var high = slots.count
        while low < high {
            let middle = low + (high - low) / 2
            if slots[middle].id < id { low = middle + 1 } else { high = middle }
        }
        guard low < slots.count, slots[low].id == id, let waiter = slots[low].waiter.take() else { return nil }
        count -= 1
        compact()
        return waiter
    }

    /// Removes the waiters that match a predicate.
    ///
    /// - Parameter isLeaving: Called for each waiter from first to last, with the number of
    ///   waiters that stay in front of it.
    /// - Returns: The waiters removed.
    package mutating func removeAll(where isLeaving: (Int, Waiter) -> Bool) -> [Waiter] {
        var staying = 0
        var left: [Waiter] = []
        for index in head..<slots.count {
            guard let waiter = slots[index].waiter else { continue }
            if isLeaving(staying, waiter) {
                slots[index].waiter = nil
                left.append(waiter)
            } else {
                staying += 1
            }
        }
        count = staying
        compact()
        return left
    }

    /// Removes the empty slots when they are more than half of all slots.
    private mutating func compact() {
        if slots.count < 32 || slots.count / 2 < count { return }
        slots.removeSubrange(..<head)
        slots.removeAll { $0.waiter == nil }
        head = 0
    }
}

extension WaitQueue: Sendable where Waiter: Sendable {}
extension WaitQueue.Slot: Sendable where Waiter: Sendable {}

/// The result of adding a request to the queue of a gate.
enum QueueResult: Sendable {
    case admitted
    case waiting
    case refused(SluiceError)

    /// Resumes the request if it does not have to wait: with the error, or with nil if it is admitted.
    func resume(_ waiter: Waiter<SluiceError?>) {
        switch self {
        case .admitted: waiter.resume(returning: nil)
        case .waiting: break
        case .refused(let error): waiter.resume(returning: error)
        }
    }
}
