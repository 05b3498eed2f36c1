/// Successes and failures of the last while, in a ring of slices of time.
struct FailureWindow: Sendable {
    private struct Slice: Sendable {
        var successes: UInt32 = 0
        var failures: UInt32 = 0
    }

    /// How many slices there are.
    static let sliceCount = 10

    private var slices = [Slice](repeating: Slice(), count: sliceCount)
    private var latest: Int64
    private var successes = 0
    /// How many failed.
    private(set) var failures = 0

    /// Makes an empty window.
    ///
    /// - Parameter slice: The number of the slice that is now.
    init(at slice: Int64) {
        latest = slice
    }

    /// How many there were.
    var total: Int { successes + failures }
    /// The part that failed, from 0 to 1.
    var failureRatio: Double { total == 0 ? 0 : Double(failures) / Double(total) }

    /// Whether nothing that was counted is recent enough to count still.
    func isOver(at slice: Int64) -> Bool {
        let (age, isBeyondCounting) = slice.subtractingReportingOverflow(latest)
        return slice > latest && (isBeyondCounting || age >= Int64(Self.sliceCount))
    }

    /// Counts one; time that goes back stands still here.
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
