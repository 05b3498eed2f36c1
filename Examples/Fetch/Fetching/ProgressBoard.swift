/// The lines of all downloads, redrawn in place on a terminal.
///
/// A finished download is written once and scrolls away. Running downloads stay below.
public struct ProgressBoard: Sendable {
    private var states: [DownloadState]
    private var isWritten: Set<Int> = []
    /// The number of lines that are redrawn in place.
    private var drawn = 0

    /// Creates a board of downloads that have not started.
    public init(_ names: [String]) {
        states = names.map { DownloadState(name: $0) }
    }

    /// Updates the state of a download.
    public mutating func update(_ index: Int, _ state: DownloadState) {
        guard states.indices.contains(index) else { return }
        states[index] = state
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
        var text = drawn > 0 ? "\u{1B}[\(drawn)A\u{1B}[J" : ""
        for (index, state) in states.enumerated() where state.isOver && isWritten.insert(index).inserted {
            text += line.text(state) + "\n"
        }
        let running = states.filter { !$0.isOver && $0.phase != .waiting }
        let shown = running.prefix(max(1, rows - 2))
        for state in shown { text += line.text(state) + "\n" }
        drawn = shown.count
        let others = states.count { !$0.isOver } - shown.count
        if others > 0 {
            text += PlainText.fitted("and \(others) more", to: line.columns) + "\n"
            drawn += 1
        }
        return text
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
