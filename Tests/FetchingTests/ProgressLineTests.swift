import Fetching
import Testing

@Suite struct ProgressLineTests {
    private static let running = DownloadState(
        name: "film.mkv",
        phase: .running,
        completed: 3 << 20,
        total: 8 << 20,
        bytesPerSecond: 1_258_291,
        timeLeft: .seconds(4)
    )

    private static func line(_ columns: Int, _ state: DownloadState = running) -> String {
        ProgressLine(columns: columns).text(state)
    }

    @Test func wideTerminalShowsEverything() {
        let bar = String(repeating: "━", count: 14) + String(repeating: " ", count: 26)
        #expect(Self.line(120) == "film.mkv   37% \(bar)  3.0 MiB of 8.0 MiB  1.2 MiB/s  0:04 left")
    }

    @Test func namesArePaddedSoThatBarsAlign() {
        let state = DownloadState(name: "映画", phase: .running, completed: 1, total: 2)
        let bar = String(repeating: "━", count: 20) + String(repeating: " ", count: 20)
        let line = ProgressLine(columns: 120)
        #expect(line.text(state, nameColumns: 8) == "映画       50% \(bar)  1 B of 2 B")
        #expect(line.text(Self.running, nameColumns: 3) == Self.line(120))
        #expect(ProgressLine(columns: 30).text(state, nameColumns: 28) == "映画   50%  1 B of 2 B", "not without a bar")
        let widest = line.text(state, nameColumns: 200)
        #expect(widest.hasPrefix("映画" + String(repeating: " ", count: 36 + 3) + "50%"), "at most a third of the line")
    }

    @Test func narrowTerminalDropsDetails() {
        #expect(Self.line(72) == "film.mkv   37% ━━━━━            3.0 MiB of 8.0 MiB  1.2 MiB/s  0:04 left")
        #expect(Self.line(60) == "film.mkv   37%  3.0 MiB of 8.0 MiB  1.2 MiB/s  0:04 left")
        #expect(Self.line(50) == "film.mkv   37%  3.0 MiB of 8.0 MiB  1.2 MiB/s")
        #expect(Self.line(40) == "film.mkv   37%  3.0 MiB of 8.0 MiB")
        #expect(Self.line(20) == "film.mkv   37%")
        #expect(Self.line(10) == "film…  37%" || Self.line(10) == "fil…   37%", "\(Self.line(10))")
    }

    @Test(arguments: 0...130)
    func linesFitTerminalWidth(columns: Int) {
        let states: [DownloadState] = [
            Self.running, DownloadState(name: "a"), DownloadState(name: String(repeating: "x", count: 300)),
            DownloadState(name: "映画.mkv", phase: .running, completed: 5, total: 10),
            DownloadState(name: "映画映画映画映画映画映画.mkv", phase: .running, completed: 5),
            DownloadState(name: "film.mkv", phase: .finished(.seconds(3)), completed: 1 << 40),
        ]
        for state in states {
            let text = Self.line(columns, state)
            let width = text.reduce(0) { $0 + ("\u{2E80}"..."\u{A4CF}" ~= $1 ? 2 : 1) }
            #expect(width <= columns, "“\(text)”")
        }
    }

    @Test func omitsBarWithoutTotal() {
        let state = DownloadState(name: "feed", phase: .running, completed: 2048, bytesPerSecond: 1024)
        #expect(Self.line(80, state) == "feed  2.0 KiB  1.0 KiB/s")
    }

    @Test func showsOutcomeAndWaiting() {
        let whole = DownloadState(name: "a", phase: .finished(.seconds(65)), completed: 2048, total: 2048)
        #expect(Self.line(80, whole) == "✓ a  2.0 KiB  in 1:05")
        #expect(Self.line(80, DownloadState(name: "a", phase: .failed("It is gone."))) == "✗ a  It is gone.")
        #expect(Self.line(80, DownloadState(name: "a")) == "a  waiting")
    }

    @Test func removesControlCharactersOfName() {
        let state = DownloadState(name: "\u{1B}[2Ja\nb\u{202E}c", phase: .failed("\u{7}\r"))
        let text = Self.line(80, state)
        #expect(!text.unicodeScalars.contains { $0.value < 32 || $0.value == 127 || $0.value == 0x202E })
        #expect(text.hasPrefix("✗ "))
    }
}
