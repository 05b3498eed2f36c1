import Dispatch
import SluiceFoundation
import SluiceLibc

/// A source of the current time and of delays: the system's clocks, or a test's own.
///
/// All waits and time measurements of a client use its clock, ``SystemClock`` by default. A test can replace it to let
/// an hour pass without waiting. The time-outs of a single transfer belong to the engine and always use real time, and cookies expire by the
/// system's date. Stored values and the entries of data sources expire by the clock of their cache store.
public protocol SluiceClock: Sendable {
    /// The current instant of a clock that never goes backwards, for durations.
    var now: ContinuousClock.Instant { get }
    /// The current date, for dates set by others: tokens, `Retry-After`.
    var date: Date { get }

    /// Suspends the calling task.
    ///
    /// - Parameter duration: The time to wait. Returns immediately if it is not positive.
    /// - Throws: `CancellationError` when the calling task is cancelled.
    func sleep(for duration: Duration) async throws
}

/// The system's clocks.
public struct SystemClock: SluiceClock {
    /// Creates the clock. All instances are equal.
    public init() {}

    /// The current instant of the system's continuous clock.
    public var now: ContinuousClock.Instant { .now }
    /// The system's current date.
    public var date: Date { Date() }

    /// Waits in real time.
    public func sleep(for duration: Duration) async throws {
        #if os(Linux)
        try Task.checkCancellation()
        guard duration > .zero else { return }
        guard await SleepTimer.shared.sleep(for: duration) else { throw CancellationError() }
        #else
        // The system's clock overflows for very long durations, so they are limited to 68 years. It would wait for
        // ever if the time before now were before the start of the system.
        try await Task.sleep(for: max(.zero, min(duration, .seconds(Int64(1) << 31))))
        #endif
    }
}

// MARK: - The monotonic clock of the engine

#if os(Linux)
/// A time of the system's continuous clock, in nanoseconds. It never goes back, and counts the time in which the system was suspended.
package struct MonotonicTime: Sendable, Comparable {
    package let nanoseconds: Int64

    package init(nanoseconds: Int64) {
        self.nanoseconds = nanoseconds
    }

    package static var now: MonotonicTime {
        var time = timespec()
        clock_gettime(CLOCK_BOOTTIME, &time)
        return MonotonicTime(nanoseconds: Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec))
    }

    package static let distantFuture = MonotonicTime(nanoseconds: .max)

    package static func < (lhs: Self, rhs: Self) -> Bool { lhs.nanoseconds < rhs.nanoseconds }

    package static func + (time: Self, duration: Duration) -> Self {
        let (sum, overflow) = time.nanoseconds.addingReportingOverflow(duration.nanoseconds)
        return overflow ? .distantFuture : MonotonicTime(nanoseconds: sum)
    }

    /// The time from `earlier` to this moment.
    package func since(_ earlier: MonotonicTime) -> Duration {
        .nanoseconds(nanoseconds - earlier.nanoseconds)
    }

    /// The milliseconds from `now` to this time, rounded up, as a time-out for epoll; -1 for none.
    package func milliseconds(after now: MonotonicTime) -> Int32 {
        if self == .distantFuture { return -1 }
        guard self > now else { return 0 }
        return Int32(clamping: (nanoseconds - now.nanoseconds - 1) / 1_000_000 + 1)
    }
}

extension Duration {
    /// The duration in nanoseconds, clamped to 64 bits (292 years).
    package var nanoseconds: Int64 {
        Int64(clamping: attoseconds / 1_000_000_000)
    }
}
#endif

extension Duration {
    /// The duration in seconds, rounded up to whole milliseconds, for error texts. The system's description shows rounding errors.
    package var textRoundedUp: String {
        let (milliseconds, rest) = bounded.attoseconds.quotientAndRemainder(dividingBy: 1_000_000_000_000_000)
        return "\(Double(milliseconds + (rest > 0 ? 1 : 0)) / 1000) seconds"
    }

    /// The duration limited to 292 years in both directions, the range of nanoseconds in 64 bits. Its sum with a time or with
    /// another limited duration does not overflow.
    package var bounded: Duration { max(.nanoseconds(Int64.min), min(self, .nanoseconds(Int64.max))) }
}

#if os(Linux)
/// The waits of the process, which share one timer of the system.
///
/// On Linux, a cancelled `Task.sleep` leaves about 750 bytes behind until the time at which it would have ended. A time-out for each request
/// would so hold the memory of all requests of that time.
///
/// The timer of the system stands still while the system is suspended, but the time of the sleeps goes on. So the timer is set for ten
/// seconds at most, after which the sleeps are checked.
final class SleepTimer: Sendable {
    static let shared = SleepTimer()

    private static var longestWait: Duration { .seconds(10) }

    private struct State {
        var sleeps = SleepQueue<Waiter<Bool>>()
        /// The time for which the timer is set.
        var alarm = MonotonicTime.distantFuture
    }

    private let now: @Sendable () -> MonotonicTime

    private let state = Locked(State())
    /// A dispatch source can be used on any thread. It is set under the lock, so that the last alarm is the one of the state.
    private nonisolated(unsafe) let timer: any DispatchSourceTimer

    init(now: @escaping @Sendable () -> MonotonicTime = { .now }) {
        self.now = now
        timer = DispatchSource.makeTimerSource(queue: DispatchQueue(label: "sluice.sleep"))
        timer.setEventHandler { [weak self] in self?.alarmRings() }
        timer.activate()
    }

    deinit {
        timer.cancel()
    }

    /// The number of sleeps.
    var count: Int { state.withLock { $0.sleeps.count } }

    /// Waits for a time. Returns false if the task is cancelled first.
    func sleep(for duration: Duration) async -> Bool {
        let end = now() + duration
        return await state.wait(cancelled: false) { waiter in
            let isCancelled = state.withLock { state in
                // Checked under the lock: a later cancellation finds the waiter.
                if Task.isCancelled { return true }
                state.sleeps.insert(waiter, number: waiter.id, until: end)
                setTimer(&state)
                return false
            }
            if isCancelled { waiter.resume(returning: false) }
        } leave: { id in
            state.withLock { $0.sleeps.remove(id) }
        }
    }

    /// Sets the timer, unless it rings before the next sleep ends. A timer that rings too early does no harm.
    private func setTimer(_ state: inout State) {
        let (next, now) = (state.sleeps.earliest, now())
        // A timer that is due rings soon, and setting it again would drop its event. One that is a second late stood still with the system.
        guard next != .distantFuture, max(next, now) < state.alarm || state.alarm + .seconds(1) <= now else { return }
        let wait = min(max(.zero, next.since(now)), SleepTimer.longestWait)
        state.alarm = now + wait
        timer.schedule(deadline: .now() + .nanoseconds(Int(wait.nanoseconds)))
    }

    private func alarmRings() {
        let ended = state.withLock { state in
            state.alarm = .distantFuture
            let ended = state.sleeps.removeEnded(at: now())
            setTimer(&state)
            return ended
        }
        for waiter in ended { waiter.resume(returning: true) }
    }
}

/// Elements by the times at which they end. An element that is removed before leaves only its time behind.
struct SleepQueue<Element> {
    private struct Entry {
        let end: MonotonicTime
        let number: Int
    }

    private var elements: [Int: Element] = [:]
    /// A binary heap with the earliest end first, also of removed elements until they outnumber the others.
    private var heap: [Entry] = []

    var count: Int { elements.count }
    /// The number of times that are stored, with those of removed elements.
    var storedTimes: Int { heap.count }
    /// A time not after the earliest end; the distant future if there are no elements.
    var earliest: MonotonicTime { heap.first?.end ?? .distantFuture }

    mutating func insert(_ element: Element, number: Int, until end: MonotonicTime) {
        elements[number] = element
        heap.append(Entry(end: end, number: number))
        var position = heap.count - 1
        while position > 0, heap[position].end < heap[(position - 1) / 2].end {
            heap.swapAt(position, (position - 1) / 2)
            position = (position - 1) / 2
        }
    }

    mutating func remove(_ number: Int) -> Element? {
        guard let element = elements.removeValue(forKey: number) else { return nil }
        if elements.isEmpty {
            heap.removeAll(keepingCapacity: heap.capacity <= 1024)
        } else if heap.count > 2 * elements.count + 64 {
            // A sorted array is a heap.
            heap = heap.filter { elements[$0.number] != nil }.sorted { $0.end < $1.end }
        }
        return element
    }

    /// Removes and returns the elements that have ended, in the order of their ends.
    mutating func removeEnded(at now: MonotonicTime) -> [Element] {
        var ended: [Element] = []
        while let first = heap.first, first.end <= now {
            if let element = elements.removeValue(forKey: first.number) { ended.append(element) }
            removeFirst()
        }
        return ended
    }

    private mutating func removeFirst() {
        let last = heap.removeLast()
        guard !heap.isEmpty else { return }
        heap[0] = last
        var position = 0
        while true {
            var least = position
            for child in 2 * position + 1...2 * position + 2
            where child < heap.count && heap[child].end < heap[least].end {
                least = child
            }
            if least == position { return }
            heap.swapAt(position, least)
            position = least
        }
    }
}
#endif

// MARK: - Civil time

/// A date and time of the Gregorian calendar in UTC, computed without the system's calendar.
package struct CivilTime: Sendable, Hashable {
    package var year: Int
    /// From 1.
    package var month: Int
    /// From 1.
    package var day: Int
    package var hour: Int
    package var minute: Int
    package var second: Int

    package init(year: Int, month: Int, day: Int, hour: Int = 0, minute: Int = 0, second: Int = 0) {
        self.year = year
        self.month = month
        self.day = day
        self.hour = hour
        self.minute = minute
        self.second = second
    }

    /// Creates the time that is a number of seconds after the start of 1970, within some millions of years of it.
    package init(secondsSince1970 seconds: Int64) {
        let days = Int(seconds.flooredDivision(by: 86_400))
        // An `Int` has only 32 bits on some watches.
        let rest = Int(seconds - Int64(days) * 86_400)
        // Years start in March, so that the leap day is the last day of a year, and are grouped into eras of 400 years.
        let sinceEpoch = days + 719_468
        let era = sinceEpoch.flooredDivision(by: 146_097)
        let dayOfEra = sinceEpoch - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let monthFromMarch = (5 * dayOfYear + 2) / 153
        month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
        year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
        day = dayOfYear - (153 * monthFromMarch + 2) / 5 + 1
        hour = rest / 3600
        minute = rest % 3600 / 60
        second = rest % 60
    }

    /// True if the date and time exist. A 61st second is accepted as a leap second.
    package var isValid: Bool {
        (1...12).contains(month) && day >= 1 && day <= Self.days(ofMonth: month, in: year)
            && (0..<24).contains(hour) && (0..<60).contains(minute) && (0...60).contains(second)
    }

    /// The seconds since the start of 1970, for years within some millions of it.
    package var secondsSince1970: Int64 {
        let monthFromMarch = month > 2 ? month - 3 : month + 9
        let yearFromMarch = month > 2 ? year : year - 1
        let era = yearFromMarch.flooredDivision(by: 400)
        let yearOfEra = yearFromMarch - era * 400
        let dayOfYear = (153 * monthFromMarch + 2) / 5 + day - 1
        let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
        let days = Int64(era * 146_097 + dayOfEra - 719_468)
        return days * 86_400 + Int64(hour * 3600 + minute * 60 + second)
    }

    /// The day of the week, from 0 for Sunday.
    package var weekday: Int {
        let days = Int(secondsSince1970.flooredDivision(by: 86_400)) + 4
        return days - days.flooredDivision(by: 7) * 7
    }

    private static func days(ofMonth month: Int, in year: Int) -> Int {
        switch month {
        case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }
}

extension BinaryInteger {
    fileprivate func flooredDivision(by divisor: Self) -> Self {
        let (quotient, remainder) = quotientAndRemainder(dividingBy: divisor)
        return remainder < 0 ? quotient - 1 : quotient
    }
}
