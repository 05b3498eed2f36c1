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
        guard groups.values[index].running < each else { return false }
        groups.values[index].running += 1
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
        settle(key)
        return .waiting
    }

    /// Gives up a place in line; nil if it had been admitted already.
    mutating func leave(id: Int, _ key: String) -> Waiter? {
        guard let waiter = groups[key]?.line.remove(id: id) else { return nil }
        waiting -= 1
        settle(key)
        return waiter
    }

    /// Gives back a slot; returns whom it goes to.
    mutating func giveBack(_ key: String) -> Waiter? {
        guard let index = groups.index(forKey: key), groups.values[index].running > 0 else { return nil }
        running -= 1
        groups.values[index].running -= 1
        settle(key)
        guard running < total, let next = turns.popFirst() else { return nil }
        return admitFirst(of: next)
    }

    private mutating func admitFirst(of key: String) -> Waiter? {
        groups[key]?.turn = nil
        guard let waiter = groups[key]?.line.popFirst() else { return nil }
        groups[key]?.running += 1
        running += 1
        waiting -= 1
        settle(key)
        return waiter
    }

    /// Gives a group a turn if it could use one, takes it away if it could not, and forgets a group that is idle.
    private mutating func settle(_ key: String) {
        guard let index = groups.index(forKey: key) else { return }
        let hasWaiters = !groups.values[index].line.isEmpty
        let isRunning = groups.values[index].running > 0
        if !hasWaiters, let turn = groups.values[index].turn.take() { _ = turns.remove(id: turn) }
        if !hasWaiters, !isRunning { groups.remove(at: index) }
        guard hasWaiters, groups.values[index].turn == nil, groups.values[index].running < each else { return }
        lastTurn += 1
        groups.values[index].turn = lastTurn
        turns.append(key, id: lastTurn)
    }
}
