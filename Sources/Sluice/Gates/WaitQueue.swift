/// A first-in, first-out queue of waiters, from which any waiter can be removed.
///
/// Appending takes constant time and removing by number logarithmic time, amortized. Memory stays
/// proportional to the number of waiters.
struct WaitQueue<Waiter> {
    private struct Place {
        let id: Int
        /// Nil once the waiter has been admitted or removed.
        var waiter: Waiter?
    }

    private var places: [Place] = []
    private var head = 0
    /// The number of waiters.
    private(set) var count = 0

    /// The number of places allocated, empty ones included.
    var placeCount: Int { places.count }
    /// True if the queue has no waiters.
    var isEmpty: Bool { count == 0 }

    /// Inserts a waiter by its number, which is usually the highest, so that the place is at the end.
    ///
    /// - Parameters:
    ///   - waiter: The waiter.
    ///   - id: A number that no other waiter in the queue has.
    mutating func append(_ waiter: Waiter, id: Int) {
        var index = places.count
        while index > head, places[index - 1].id > id { index -= 1 }
        places.insert(Place(id: id, waiter: waiter), at: index)
        count += 1
    }

    /// Removes and returns the waiter at the front.
    mutating func popFirst() -> Waiter? {
        while head < places.count {
            let waiter = places[head].waiter.take()
            head += 1
            guard let waiter else { continue }
            count -= 1
            compact()
            return waiter
        }
        return nil
    }

    /// Removes and returns the waiter with a number; nil if it is no longer in the queue.
    mutating func remove(id: Int) -> Waiter? {
        var low = head
        var high = places.count
        while low < high {
            let middle = low + (high - low) / 2
            if places[middle].id < id { low = middle + 1 } else { high = middle }
        }
        guard low < places.count, places[low].id == id, let waiter = places[low].waiter.take() else { return nil }
        count -= 1
        compact()
        return waiter
    }

    /// Removes the waiters that match a predicate.
    ///
    /// - Parameter isLeaving: Called for each waiter from first to last, with the number of
    ///   waiters that stay in front of it.
    /// - Returns: The waiters removed.
    mutating func removeAll(where isLeaving: (Int, Waiter) -> Bool) -> [Waiter] {
        var staying = 0
        var left: [Waiter] = []
        for index in head..<places.count {
            guard let waiter = places[index].waiter else { continue }
            if isLeaving(staying, waiter) {
                places[index].waiter = nil
                left.append(waiter)
            } else {
                staying += 1
            }
        }
        count = staying
        compact()
        return left
    }

    /// Removes the empty places once they are more than half of all.
    private mutating func compact() {
        if places.count < 32 || places.count / 2 < count { return }
        places.removeSubrange(..<head)
        places.removeAll { $0.waiter == nil }
        head = 0
    }
}
