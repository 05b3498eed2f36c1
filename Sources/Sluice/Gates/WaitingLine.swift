/// Those who wait, first come, first served; whoever is in it can leave it from anywhere.
///
/// Coming and leaving take constant or logarithmic time, and the room is in proportion to those who wait, however many
/// came and left.
struct WaitingLine<Waiter> {
    private struct Place {
        let id: Int
        /// Nil once it has been admitted or has left.
        var waiter: Waiter?
    }

    private var places: [Place] = []
    private var head = 0
    /// How many wait.
    private(set) var count = 0

    /// The room it takes, which stays within a few times of those who wait.
    var placeCount: Int { places.count }
    /// Whether nobody waits.
    var isEmpty: Bool { count == 0 }

    /// Adds one behind all others but those of greater numbers, of whom there are few: they came at the same time.
    ///
    /// - Parameters:
    ///   - waiter: Who waits.
    ///   - id: A number that nobody in the line has.
    mutating func append(_ waiter: Waiter, id: Int) {
        var index = places.count
        while index > head, places[index - 1].id > id { index -= 1 }
        places.insert(Place(id: id, waiter: waiter), at: index)
        count += 1
    }

    /// Takes out who has waited longest.
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

    /// Takes out whom the number belongs to; nil if it has been taken out already.
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

    /// Takes out all of whom something is true.
    ///
    /// - Parameter isLeaving: Is given how many stay in front of one, and the one; from first to last.
    /// - Returns: Those taken out.
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

    /// Closes up once more than half of the places are empty.
    private mutating func compact() {
        if places.count < 32 || places.count / 2 < count { return }
        places.removeSubrange(..<head)
        places.removeAll { $0.waiter == nil }
        head = 0
    }
}
