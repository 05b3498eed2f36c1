/// Bytes to ask for, with or without an end.
struct DownloadSpan: Sendable, Equatable {
    let first: Int64
    /// Behind the last; nil for the resource's end.
    var end: Int64?

    init(first: Int64) {
        self.first = first
    }

    init(_ range: Range<Int64>) {
        first = range.lowerBound
        end = range.upperBound
    }
}
