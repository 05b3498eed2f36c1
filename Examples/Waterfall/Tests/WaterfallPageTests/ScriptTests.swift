import Foundation
import Sluice
import Testing

@testable import WaterfallPage

/// The script of the page in a browser.
@Suite(.serialized, .enabled(if: Program.browserTestsRun, "chromium is not installed"))
struct ScriptTests {
    /// The functions of the scripts of these tests.
    private static let driver = """
        const form = document.getElementById("filter").elements;
        const set = (name, value) => {
          form[name].value = value;
          form[name].dispatchEvent(new Event("input", {bubbles: true}));
        };
        const paths = () => Array.from(document.querySelectorAll(".group"))
          .filter(group => group.getClientRects().length > 0)
          .map(group => group.querySelector(".path").textContent).join(" ");
        const press = (key, element = document.activeElement) =>
          element.dispatchEvent(new KeyboardEvent("keydown", {key, bubbles: true, cancelable: true}));

        """

    private static let html = WaterfallPage(
        Samples.har([
            Samples.entry("https://a.example/users?page=1"),
            Samples.entry("https://a.example/orders", at: 50, 404) { $0.request.method = "POST" },
            Samples.entry("https://b.example/slow", at: 100, 200, HAR.Timings(wait: 400)) {
                $0.response.content.text = "<b>&</b> \"quoted\""
            },
            Samples.entry("https://b.example/lost", at: 600, 0) { $0.error = "connectionLost: It was reset." },
        ])
    ).html

    private func inBrowser(_ html: String = html, driver: String) async throws -> Browser.Reading {
        let folder = FileManager.default.temporaryDirectory.appending(path: "sluice-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        return try await Browser(folder: folder).read(html, driver: Self.driver + driver)
    }

    /// The lines of the console without their origin.
    private func messages(_ reading: Browser.Reading) -> [String] {
        reading.console.map { line in
            guard let start = line.firstRange(of: "] \""), let end = line.range(of: "\", source:") else { return line }
            return String(line[start.upperBound..<end.lowerBound])
        }
    }

    @Test func filtersShowTheRequestsThatMatchAll() async throws {
        let filters: [(String, String)] = [
            (#"set("text", "USERS")"#, "/users"), (#"set("text", "a.example/ users")"#, "/users"),
            (#"set("text", "https://b.example/slow")"#, "/slow"), (#"set("text", "page=1")"#, "/users"),
            (#"set("text", "connectionlost")"#, "/lost"), (#"set("text", "post")"#, "/orders"),
            (#"set("text", "")"#, "/users /orders /slow /lost"), (#"set("status", "2")"#, "/users /slow"),
            (#"set("text", "slow")"#, "/slow"), (#"set("text", "orders")"#, ""),
            (#"press("Escape", form.text)"#, "/users /orders /slow /lost"), (#"set("status", "0")"#, "/lost"),
            (#"set("status", "4")"#, "/orders"), (#"set("status", "")"#, "/users /orders /slow /lost"),
            (#"set("method", "POST")"#, "/orders"), (#"set("method", "")"#, "/users /orders /slow /lost"),
            (#"set("origin", "1")"#, "/slow /lost"), (#"set("origin", "")"#, "/users /orders /slow /lost"),
            (#"set("time", "300")"#, "/slow"), (#"set("time", "")"#, "/users /orders /slow /lost"),
            (#"document.getElementById("show-failed").click()"#, "/orders /lost"),
            (#"set("text", "lost")"#, "/lost"),
        ]
        let steps = filters.map { "\($0.0); console.log(`=${paths()}`);" }
        let output = "console.log(document.querySelector(`output`).textContent);"
        let reading = try await inBrowser(driver: (steps + [output]).joined(separator: "\n"))
        let messages = messages(reading)
        #expect(messages.count == filters.count + 1)
        #expect(messages.last == "1 of 4 shown")
        for (filter, message) in zip(filters, messages) { #expect("=\(filter.1)" == message, "\(filter.0)") }
    }

    @Test func detailsBecomeMarkupWhenTheirRowOpens() async throws {
        let reading = try await inBrowser(
            driver: """
                const row = document.querySelectorAll(".row")[2];
                console.log(`before: ${document.querySelectorAll(".detail").length}`);
                row.addEventListener("toggle", () => console.log(
                  `after: ${document.querySelectorAll(".detail").length} ${row.querySelectorAll("pre").length} ` +
                  `${row.querySelectorAll("pre b").length} ${row.querySelector("pre").textContent.length}`));
                row.open = true;
                """
        )
        #expect(messages(reading) == ["before: 0", "after: 1 1 0 17"])
    }

    @Test func rowsAndTheFilterAreReachedByKeys() async throws {
        let reading = try await inBrowser(
            driver: """
                const focus = () => document.activeElement.name ?? document.activeElement.querySelector(".path").textContent;
                press("/", document.body);
                console.log(focus());
                set("origin", "1");
                document.querySelector(".group:not([hidden]) summary").focus();
                press("ArrowUp");
                console.log(focus());
                press("ArrowDown");
                console.log(focus());
                press("ArrowDown");
                console.log(focus());
                """
        )
        #expect(messages(reading) == ["text", "/slow", "/lost", "/lost"])
    }

    @Test func comparisonsAreFilteredToo() async throws {
        let before = Samples.har([Samples.entry("https://a.example/x"), Samples.entry("https://a.example/gone", at: 9)])
        let after = Samples.har([Samples.entry("https://a.example/x", at: 0, 200, HAR.Timings(wait: 900))])
        let html = ComparisonPage(
            before: try Archive(parsing: before.data()),
            after: try Archive(parsing: after.data())
        ).html
        let reading = try await inBrowser(
            html,
            driver: """
                for (const name of ["gone", "slower", "all"]) {
                  document.getElementById(`show-${name}`).click();
                  console.log(paths());
                }
                set("text", "gone");
                console.log(paths());
                """
        )
        #expect(messages(reading) == ["/gone", "/x", "/x /gone", "/gone"])
    }

    @Test func thePageIsCompleteWithoutScripts() async throws {
        #expect(
            Self.html.contains("<form id=\"filter\" class=\"filter\" role=\"search\" aria-label=\"Filter\" hidden>")
        )
        // The parser of scripts reads a document as a browser without scripts does.
        let reading = try await inBrowser(
            driver: """
                const page = new DOMParser().parseFromString(document.documentElement.outerHTML, "text/html");
                console.log(page.querySelectorAll(".row > noscript > .detail").length);
                console.log(page.querySelector(".detail pre").textContent.length);
                """
        )
        #expect(messages(reading) == ["4", "17"])
    }

    @Test func thePolicyAllowsTheScript() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "sluice-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let page = folder.appending(path: "page.html")
        try Data(Self.html.utf8).write(to: page)
        let reading = try await Browser(folder: folder).read(page)
        // Chromium names the right hash, if this one is wrong.
        #expect(reading.console.isEmpty, "\(reading.console)")
        #expect(
            reading.document.contains("<form id=\"filter\" class=\"filter\" role=\"search\" aria-label=\"Filter\">")
        )
    }
}
