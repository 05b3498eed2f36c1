import Fetching
import Foundation
import Testing

@Suite struct ProgressBoardTests {
    private static func running(_ name: String) -> DownloadState {
        DownloadState(name: name, phase: .running, completed: 1)
    }
    private static func finished(_ name: String) -> DownloadState { DownloadState(name: name, phase: .finished(.zero)) }

    @Test func redrawsLinesInPlace() {
        var board = ProgressBoard(["a", "b"])
        #expect(board.drawing(columns: 80) == "and 2 more\n")
        board.update(0, Self.running("a"))
        #expect(board.drawing(columns: 80) == "\r\u{1B}[1A\u{1B}[Ja  1 B\nand 1 more\n")
        board.update(1, Self.running("b"))
        #expect(board.drawing(columns: 80) == "\r\u{1B}[2A\u{1B}[Ja  1 B\nb  1 B\n")
        board.update(0, Self.finished("a"))
        #expect(board.drawing(columns: 80) == "\r\u{1B}[2A\u{1B}[J✓ a  0 B  in 0:00\nb  1 B\n")
        board.update(1, DownloadState(name: "b", phase: .failed("no")))
        #expect(board.drawing(columns: 80) == "\r\u{1B}[1A\u{1B}[J✗ b  no\n")
        #expect(board.drawing(columns: 80) == "", "finished downloads are written once")
    }

    @Test func countsDownloadsThatDoNotFit() {
        var board = ProgressBoard((0..<10).map { "\($0)" })
        for index in 0..<10 { board.update(index, Self.running("\(index)")) }
        let text = board.drawing(columns: 80, rows: 5)
        #expect(text == "0  1 B\n1  1 B\n2  1 B\nand 7 more\n")
        #expect(board.drawing(columns: 80, rows: 0).hasPrefix("\r\u{1B}[4A\u{1B}[J0  1 B\nand 9 more"))
    }

    @Test func countsRowsOfLinesThatNarrowerTerminalHasWrapped() {
        var board = ProgressBoard(["a", "b"])
        for (index, name) in ["a", "b"].enumerated() {
            board.update(
                index,
                DownloadState(name: name, phase: .running, completed: 5 << 20, total: 10 << 20)
            )
        }
        let lines = board.drawing(columns: 100).split(separator: "\n")
        #expect(lines.map(\.count) == [67, 67])
        #expect(board.drawing(columns: 40).hasPrefix("\r\u{1B}[4A\u{1B}[J"), "two rows for each line")
        #expect(board.drawing(columns: 100).hasPrefix("\r\u{1B}[2A\u{1B}[J"))
        #expect(board.drawing(columns: 1).hasPrefix("\r\u{1B}["))
    }

    @Test func leavesLinesBehindAfterOtherOutput() {
        var board = ProgressBoard(["a"])
        board.update(0, Self.running("a"))
        _ = board.drawing(columns: 80)
        board.leaveLines()
        #expect(board.drawing(columns: 80) == "a  1 B\n")
    }

    @Test func writesReasonOfFailureInFull() {
        var board = ProgressBoard(["a"])
        let reason = String(repeating: "because ", count: 20)
        board.update(0, DownloadState(name: "a", phase: .failed(reason)))
        #expect(board.drawing(columns: 40) == "✗ a  \(reason)\n")
    }

    @Test func ignoresUnknownDownload() {
        var board = ProgressBoard([])
        board.update(3, Self.running("x"))
        #expect(board.drawing(columns: 80) == "")
    }

    @Test func logsEachTenPercent() {
        var log = ProgressLog()
        var lines: [String] = []
        for completed in 0...100 {
            let state = DownloadState(name: "a", phase: .running, completed: Int64(completed), total: 100)
            if let line = log.line(0, state) { lines.append(line) }
        }
        #expect(lines.count == 11)
        #expect(lines.prefix(2) == ["a: 0% of 100 B", "a: 10% of 100 B"])
        #expect(log.line(0, Self.finished("a")) == "a: 0 B in 0:00")
        #expect(log.line(1, DownloadState(name: "b", phase: .failed("no"))) == "b: failed: no")
        #expect(log.line(1, DownloadState(name: "b")) == nil)
    }

    @Test func logsUnknownTotalAfterFirstBytes() {
        var log = ProgressLog()
        #expect(log.line(0, DownloadState(name: "a", phase: .running)) == nil)
        #expect(log.line(0, DownloadState(name: "a", phase: .running, completed: 5)) == "a: 5 B")
    }

    @Test func logsUnknownTotalOnce() {
        var log = ProgressLog()
        let state = DownloadState(name: "a", phase: .running, completed: 2048, bytesPerSecond: 1024)
        #expect(log.line(0, state) == "a: 2.0 KiB, 1.0 KiB/s")
        #expect(log.line(0, state) == nil)
    }
}

@Suite struct DownloadEventTests {
    @Test func eventOmitsUnknownMembers() {
        var event = DownloadEvent(.progress, url: "https://a.example/x")
        event.completed = 5
        #expect(event.line == #"{"completed":5,"event":"progress","url":"https://a.example/x"}"#)
        #expect(DownloadEvent(.interrupted).line == #"{"event":"interrupted"}"#)
    }

    @Test func charactersOfTerminalsAreEscaped() throws {
        var event = DownloadEvent(.finished)
        event.file = "/a\u{1B}[31m\u{9B}2J\u{202E}\u{2028}\u{E0001}é映\u{1F600}"
        let line = event.line
        #expect(
            line.unicodeScalars.allSatisfy { $0.value >= 32 && ![0x9B, 0x202E, 0x2028, 0xE0001].contains($0.value) }
        )
        #expect(line.contains(#"\u009b2J\u202e\u2028\udb40\udc01é映"#), "\(line)")
        #expect(try JSONDecoder().decode(DownloadEvent.self, from: Data(line.utf8)) == event)
    }
}
