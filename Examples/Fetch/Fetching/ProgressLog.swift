/// Progress as lines, for output that is not a terminal: when a download starts, at each tenth, and when it ends.
public struct ProgressLog: Sendable {
    private var tenths: [Int: Int] = [:]

    /// Creates an empty log.
    public init() {}

    /// Records the state of a download.
    ///
    /// - Parameters:
    ///   - index: The index of the download.
    ///   - state: The state of the download.
    /// - Returns: A line without a line ending; nil if nothing changed.
    public mutating func line(_ index: Int, _ state: DownloadState) -> String? {
        let name = PlainText.of(state.name)
        switch state.phase {
        case .waiting:
            return nil
        case .running:
            let tenth = (state.percent ?? 0) / 10
            guard state.completed > 0 || state.total != nil, tenth > tenths[index, default: -1] else { return nil }
            tenths[index] = tenth
            let details = [
                state.percent.map { "\($0)% of \(Quantity.bytes(state.total ?? 0))" }
                    ?? Quantity.bytes(state.completed),
                Quantity.rate(state.bytesPerSecond),
            ]
            return "\(name): \(details.compactMap(\.self).joined(separator: ", "))"
        case .finished(let time):
            return "\(name): \(Quantity.bytes(state.completed))\(Quantity.time(time).map { " in \($0)" } ?? "")"
        case .failed(let reason):
            return "\(name): failed: \(PlainText.of(reason))"
        }
    }
}
