/// The state of a concurrency limit: the running and waiting requests, and the order of the groups.
///
/// Requests of a group are admitted in the order of their arrival. Groups that wait for the total limit take turns.
struct Slots<Waiter> {
    enum Arrival: Equatable {
        case admitted
        case waiting
        /// The queue of the group is full.
        case full(waiting: Int)
    }

    private struct Group {
        var running = 0
        var line = WaitingLine<Waiter>()
        /// The group's number in the queue of groups; nil unless the group has waiters and is below its own limit.
        var turn: Int?

        var isIdle: Bool { running == 0 && line.isEmpty }

        mutating func take(of limit: Int) -> Bool {
            guard running < limit else { return false }
            running += 1
            return true
        }

        mutating func giveBack() -> Bool {
            guard running > 0 else { return false }
            running -= 1
            return true
        }

        /// Removes and returns the turn of a group without waiters.
        mutating func idleTurn() -> Int? {
            line.isEmpty ? turn.take() : nil
        }

        /// Takes a turn if the group has waiters and is below its own limit.
        mutating func queue(_ turn: Int, _ limit: Int) -> Bool {
            guard self.turn == nil, !line.isEmpty, running < limit else { return false }
            self.turn = turn
            return true
        }
    }

    private let total: Int
    private let each: Int
    private let maximumWaiting: Int
    private var groups: [String: Group] = [:]
    private var turns = WaitingLine<String>()
    private var lastTurn = 0
    /// The number of slots in use.
    private(set) var running = 0
    /// The number of waiters.
    private(set) var waiting = 0

    /// Creates a state without requests.
    ///
    /// - Parameters:
    ///   - total: The number of requests that may run at the same time, at least 1; nil for no limit.
    ///   - each: The number of requests of one group that may run, at least 1; nil for no limit.
    ///   - maximumWaiting: The number of requests of one group that may wait, at least 0.
    init(total: Int?, each: Int?, maximumWaiting: Int) {
        self.total = max(1, total ?? .max)
        self.each = max(1, each ?? .max)
        self.maximumWaiting = max(0, maximumWaiting)
    }

    /// The number of groups with an entry.
    var groupCount: Int { groups.count }
    /// The number of groups that wait for the total limit.
    var turnCount: Int { turns.count }

    /// Takes a slot if one is free. A group with waiters never has a free slot.
    mutating func take(_ key: String) -> Bool {
        guard running < total else { return false }
        guard let index = groups.index(forKey: key) else {
            groups[key] = Group(running: 1)
            running += 1
            return true
        }
        guard groups.values[index].take(of: each) else { return false }
        running += 1
        return true
    }

    /// Takes a slot, or a place in the group's queue.
    mutating func arrive(_ waiter: Waiter, id: Int, _ key: String) -> Arrival {
        if take(key) { return .admitted }
        let waitingInGroup = groups[key]?.line.count ?? 0
        if waitingInGroup >= maximumWaiting { return .full(waiting: waitingInGroup) }
        groups[key, default: Group()].line.append(waiter, id: id)
        waiting += 1
        if let index = groups.index(forKey: key) { settle(index, key) }
        return .waiting
    }

    /// Removes a waiter from the queue. Returns nil if it has already been admitted.
    mutating func leave(id: Int, _ key: String) -> Waiter? {
        guard let index = groups.index(forKey: key), let waiter = groups.values[index].line.remove(id: id) else {
            return nil
        }
        waiting -= 1
        settle(index, key)
        return waiter
    }

    /// Releases a slot. Returns the waiter that takes it over.
    mutating func giveBack(_ key: String) -> Waiter? {
        guard let index = groups.index(forKey: key), groups.values[index].giveBack() else { return nil }
        running -= 1
        settle(index, key)
        guard running < total, let next = turns.popFirst() else { return nil }
        return admitFirst(of: next)
    }

    private mutating func admitFirst(of key: String) -> Waiter? {
        guard let index = groups.index(forKey: key) else { return nil }
        groups.values[index].turn = nil
        guard let waiter = groups.values[index].line.popFirst() else { return nil }
        groups.values[index].running += 1
        running += 1
        waiting -= 1
        settle(index, key)
        return waiter
    }

    /// Gives the group a turn if it can use one, removes a turn it cannot use, and removes an idle group.
    private mutating func settle(_ index: Dictionary<String, Group>.Index, _ key: String) {
        if let turn = groups.values[index].idleTurn() { _ = turns.remove(id: turn) }
        if groups.values[index].isIdle {
            groups.remove(at: index)
        } else if groups.values[index].queue(lastTurn + 1, each) {
            lastTurn += 1
            turns.append(key, id: lastTurn)
        }
    }
}
