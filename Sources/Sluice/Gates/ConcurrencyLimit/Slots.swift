/// The state of a concurrency limit: who runs, who waits, and whose turn it is.
///
/// Requests of a group are served in their order; groups that wait for what all share take turns.
struct Slots<Waiter> {
    enum Arrival: Equatable {
        case admitted
        case waiting
        /// As many of the group wait as may.
        case full(waiting: Int)
    }

    private struct Group {
        var running = 0
        var line = WaitingLine<Waiter>()
        /// Its place among those that wait for a slot of all; it has room for one, and somebody waits.
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

        /// A turn it does not need any longer.
        mutating func idleTurn() -> Int? {
            line.isEmpty ? turn.take() : nil
        }

        /// Takes a turn if it could use one.
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
    /// How many hold a slot.
    private(set) var running = 0
    /// How many wait for one.
    private(set) var waiting = 0

    /// Makes a state in which nobody runs.
    ///
    /// - Parameters:
    ///   - total: How many may run at once, at least 1; nil for no limit.
    ///   - each: How many of one group may, at least 1; nil for no limit.
    ///   - maximumWaiting: How many of one group may wait, at least 0.
    init(total: Int?, each: Int?, maximumWaiting: Int) {
        self.total = max(1, total ?? .max)
        self.each = max(1, each ?? .max)
        self.maximumWaiting = max(0, maximumWaiting)
    }

    /// Groups about which anything is known.
    var groupCount: Int { groups.count }
    /// Groups that wait for a slot of all.
    var turnCount: Int { turns.count }

    /// Takes a slot if there is one; where somebody of the group waits there is none.
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

    /// Takes a slot, or a place in the group's line.
    mutating func arrive(_ waiter: Waiter, id: Int, _ key: String) -> Arrival {
        if take(key) { return .admitted }
        let waitingInGroup = groups[key]?.line.count ?? 0
        if waitingInGroup >= maximumWaiting { return .full(waiting: waitingInGroup) }
        groups[key, default: Group()].line.append(waiter, id: id)
        waiting += 1
        if let index = groups.index(forKey: key) { settle(index, key) }
        return .waiting
    }

    /// Gives up a place in line; nil if it had been admitted already.
    mutating func leave(id: Int, _ key: String) -> Waiter? {
        guard let index = groups.index(forKey: key), let waiter = groups.values[index].line.remove(id: id) else {
            return nil
        }
        waiting -= 1
        settle(index, key)
        return waiter
    }

    /// Gives back a slot; returns whom it goes to.
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

    /// Gives a group a turn if it could use one, takes it away if it could not, and forgets a group that is idle.
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
