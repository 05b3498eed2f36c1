/// A range of bytes to request, with or without an end.
struct DownloadSpan: Sendable, Equatable {
    let first: Int64
    /// The offset after the last byte; nil for the end of the resource.
    var end: Int64?

    init(first: Int64) {
        self.first = first
    }

    init(_ range: Range<Int64>) {
        first = range.lowerBound
        end = range.upperBound
    }
}
