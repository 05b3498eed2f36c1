/// The lines of all downloads on a terminal, drawn over each other in place.
///
/// Those that are over are written once and scroll away; those under way stay below them.
public struct ProgressBoard: Sendable {
    private var states: [DownloadState]
    private var isWritten: Set<Int> = []
    /// How many lines stand below those that are over.
    private var drawn = 0

    /// Makes a board of downloads that wait.
    public init(_ names: [String]) {
        states = names.map { DownloadState(name: $0) }
    }

    /// Takes in what one of them has come to.
    public mutating func update(_ index: Int, _ state: DownloadState) {
        guard states.indices.contains(index) else { return }
        states[index] = state
    }

    /// Draws what has changed.
    ///
    /// - Parameters:
    ///   - columns: The terminal's width.
    ///   - rows: Its height; of more downloads than fit the first are shown, and how many there are besides.
    /// - Returns: What to write, beginning and ending at the start of a line.
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
    /// Whether nothing more will come.
    var isOver: Bool {
        switch phase {
        case .waiting, .running: false
        case .finished, .failed: true
        }
    }
}
