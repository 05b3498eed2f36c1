/// Lines for where there is no terminal to draw on: when a download begins, at each tenth of it, and when it is over.
public struct ProgressLog: Sendable {
    private var tenths: [Int: Int] = [:]

    /// Makes a log of nothing.
    public init() {}

    /// Takes in what a download has come to.
    ///
    /// - Parameters:
    ///   - index: Which download it is.
    ///   - state: What it has come to.
    /// - Returns: A line without its end; nil where there is nothing new.
    public mutating func line(_ index: Int, _ state: DownloadState) -> String? {
        let name = PlainText.of(state.name)
        switch state.phase {
        case .waiting:
            return nil
        case .running:
            let tenth = (state.percent ?? 0) / 10
            guard tenth > tenths[index, default: -1] else { return nil }
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
