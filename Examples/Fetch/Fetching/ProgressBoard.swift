/// The lines of all downloads, redrawn in place on a terminal.
///
/// A finished download is written once and scrolls away. Running downloads stay below.
public struct ProgressBoard: Sendable {
    private var states: [DownloadState]
    private var isWritten: Set<Int> = []
    /// The widths of the lines that are redrawn in place.
    private var drawn: [Int] = []

    /// Creates a board of downloads that have not started.
    public init(_ names: [String]) {
        states = names.map { DownloadState(name: $0) }
    }

    /// Updates the state of a download.
    public mutating func update(_ index: Int, _ state: DownloadState) {
        guard states.indices.contains(index) else { return }
        states[index] = state
    }

    /// Leaves the lines that are drawn where they are. The next drawing is below the cursor.
    ///
    /// To be called if something else has written to the terminal, such as a shell while the command was stopped.
    public mutating func leaveLines() {
        drawn = []
    }

    /// Draws the changes since the last call.
    ///
    /// - Parameters:
    ///   - columns: The width of the terminal.
    ///   - rows: The height of the terminal. If there are more downloads, the first are shown, followed by the number of the
    ///     others.
    /// - Returns: The text to write. It begins and ends at the start of a line.
    public mutating func drawing(columns: Int, rows: Int = 24) -> String {
        let line = ProgressLine(columns: columns - 1)
        var text = start(columns)
        for (index, state) in states.enumerated() where state.isOver && isWritten.insert(index).inserted {
            text += line.text(state) + "\n"
        }
        let running = states.filter { !$0.isOver && $0.phase != .waiting }.prefix(max(1, rows - 2))
        let nameColumns = running.map { PlainText.columns(PlainText.of($0.name)) }.max() ?? 0
        var lines = running.map { line.text($0, nameColumns: nameColumns) }
        let others = states.count { !$0.isOver } - lines.count
        if others > 0 { lines.append(PlainText.fitted("and \(others) more", to: line.columns)) }
        drawn = lines.map(PlainText.columns)
        return text + lines.map { $0 + "\n" }.joined()
    }

    /// Returns the text that erases the lines of the last drawing.
    ///
    /// It returns to the first column, because the terminal shows `^C` where the cursor is. A terminal that has become narrower
    /// has wrapped the lines.
    private func start(_ columns: Int) -> String {
        let rows = drawn.reduce(0) { $0 + max(1, ($1 + columns - 1) / max(1, columns)) }
        return rows > 0 ? "\r\u{1B}[\(rows)A\u{1B}[J" : ""
    }
}

extension DownloadState {
    /// True if the download has finished or failed.
    var isOver: Bool {
        switch phase {
        case .waiting, .running: false
        case .finished, .failed: true
        }
    }
}
