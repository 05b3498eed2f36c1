/// One download as one line of a terminal.
///
///     film.mkv   42% ━━━━━━━━━━━━━━━━                      3.2 MiB of 7.6 MiB  1.2 MiB/s  0:04 left
public struct ProgressLine: Sendable {
    /// The number of columns.
    public let columns: Int
    private static let narrowestBar = 10
    private static let widestBar = 40

    /// Creates a line for a terminal of the given width.
    public init(columns: Int) {
        self.columns = max(0, columns)
    }

    /// Returns a state as text.
    ///
    /// - Parameters:
    ///   - state: The download.
    ///   - nameColumns: The width to which a name before a bar is padded, so that the bars of several downloads begin below
    ///     each other.
    /// - Returns: A text of at most ``columns`` columns. The least important parts are left out first. A failure is returned in
    ///   full, because it is not redrawn, and the reason matters.
    public func text(_ state: DownloadState, nameColumns: Int = 0) -> String {
        let name = PlainText.of(state.name)
        switch state.phase {
        case .waiting: return fitted(name, ["waiting"])
        case .running: return running(name, state, nameColumns)
        case .finished(let time):
            let rest = [Quantity.bytes(state.completed), Quantity.time(time).map { "in \($0)" }]
            return fitted("✓ \(name)", rest.compactMap(\.self))
        case .failed(let reason): return "✗ \(name)  \(PlainText.of(reason))"
        }
    }

    private func running(_ name: String, _ state: DownloadState, _ nameColumns: Int) -> String {
        let amount = state.total.map { "\(Quantity.bytes(state.completed)) of \(Quantity.bytes($0))" }
        let details = [
            amount ?? Quantity.bytes(state.completed), Quantity.rate(state.bytesPerSecond),
            Quantity.time(state.timeLeft).map { "\($0) left" },
        ].compactMap(\.self)
        guard let percent = state.percent else { return fitted(name, details) }
        let head = [String(repeating: " ", count: percent < 10 ? 2 : percent < 100 ? 1 : 0) + "\(percent)%"]
        let tail = details.joined(separator: "  ")
        let shown = PlainText.fitted(name, to: widestName)
        let padding = max(0, min(nameColumns, widestName) - PlainText.columns(shown))
        let used = PlainText.columns(shown) + padding + head[0].count + tail.count + 5
        let width = min(ProgressLine.widestBar, columns - used)
        guard width >= ProgressLine.narrowestBar else { return fitted(name, head + details) }
        let filled = width * percent / 100
        let bar = String(repeating: "━", count: filled) + String(repeating: " ", count: width - filled)
        return "\(shown)\(String(repeating: " ", count: padding))  \(head[0]) \(bar)  \(tail)"
    }

    private var widestName: Int { max(8, columns / 3) }

    /// Returns the name and as many details as fit, the first ones first. A long name is shortened.
    private func fitted(_ name: String, _ details: [String]) -> String {
        var details = details
        while details.count > 1, PlainText.columns(name) + details.reduce(0, { $0 + $1.count + 2 }) > columns {
            details.removeLast()
        }
        let tail = details.map { "  " + $0 }.joined()
        guard tail.count + 4 <= columns else { return PlainText.fitted(name, to: columns) }
        return PlainText.fitted(name, to: columns - tail.count) + tail
    }
}
