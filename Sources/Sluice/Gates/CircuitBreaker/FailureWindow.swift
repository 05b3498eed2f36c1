/// The recent successes and failures, in a ring of time slices.
struct FailureWindow: Sendable {
    private struct Slice: Sendable {
        var successes: UInt32 = 0
        var failures: UInt32 = 0
    }

    /// The number of slices.
    static let sliceCount = 10

    private var slices = [Slice](repeating: Slice(), count: sliceCount)
    private var latest: Int64
    private var successes = 0
    /// The number of failures.
    private(set) var failures = 0

    /// Creates an empty window.
    ///
    /// - Parameter slice: The number of the current slice.
    init(at slice: Int64) {
        latest = slice
    }

    /// The number of outcomes.
    var total: Int { successes + failures }
    /// The ratio of failures, from 0 to 1.
    var failureRatio: Double { total == 0 ? 0 : Double(failures) / Double(total) }

    /// True if all outcomes have expired.
    func isOver(at slice: Int64) -> Bool {
        let (age, isBeyondCounting) = slice.subtractingReportingOverflow(latest)
        return slice > latest && (isBeyondCounting || age >= Int64(Self.sliceCount))
    }

    /// Counts an outcome. A slice in the past counts as the latest one.
    mutating func count(failed: Bool, at slice: Int64) {
        advance(to: slice)
        let index = index(of: latest)
        if failed {
            slices[index].failures += 1
            failures += 1
        } else {
            slices[index].successes += 1
            successes += 1
        }
    }

    private mutating func advance(to slice: Int64) {
        if isOver(at: slice) {
            self = FailureWindow(at: slice)
            return
        }
        while latest < slice {
            latest += 1
            let index = index(of: latest)
            successes -= Int(slices[index].successes)
            failures -= Int(slices[index].failures)
            slices[index] = Slice()
        }
    }

    private func index(of slice: Int64) -> Int {
        let remainder = Int(slice % Int64(Self.sliceCount))
        return remainder < 0 ? remainder + Self.sliceCount : remainder
    }
}
