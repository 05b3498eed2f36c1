import Foundation
import Sluice
import Testing

/// The command and its pages in a browser.
@Suite(.serialized)
struct DemonstrationTests {
    private let folder = FileManager.default.temporaryDirectory.appending(path: "sluice-\(UUID().uuidString)")

    private func waterfall(_ arguments: String...) async throws {
        try await Program.waterfall.run(arguments)
    }

    private func read(_ page: URL) async throws -> Browser.Reading {
        try await Browser(folder: folder).read(page)
    }

    @Test(.enabled(if: Program.browserTestsRun, "chromium is not installed"))
    func demonstrationPageHasOneRowPerExchange() async throws {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let archive = folder.appending(path: "demo.har")
        let page = folder.appending(path: "demo.html")
        try await waterfall("--demo", "-o", page.path, "--har", archive.path)
        let data = try Data(contentsOf: archive)
        let entries = try HAR(parsing: data).entries
        #expect(entries.count > 20)
        #expect(entries.contains { $0.isFromRetry == true } && entries.contains { $0.isHedged == true })
        #expect(entries.contains { $0.redirectCount == 2 } && entries.contains { $0.response.status == 0 })
        #expect(!String(decoding: data, as: UTF8.self).contains("s3cret"))
        let reading = try await read(page)
        #expect(reading.console.isEmpty, "\(reading.console)")
        #expect(reading.count("<details class=\"row") == entries.count)
        #expect(reading.count("<svg class=\"bars\"") == entries.count)
        #expect(reading.count("class=\"p-wait\"") > entries.count / 2)
        #expect(reading.count("<li class=\"group") == Set(entries.map(\.requestID)).count)
        #expect(reading.document.contains("/offers/latest"))
    }

    @Test(.enabled(if: Program.browserTestsRun, "chromium is not installed"))
    func hostileRecordingRunsNoScript() async throws {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let hostile = #""'><script>document.title='owned'</script><img src=x onerror="document.title='owned'">"#
        let entry = Samples.entry("https://a.example/\(hostile)") {
            $0.request.headers = [HAR.Parameter(name: hostile, value: hostile)]
        }
        let archive = folder.appending(path: "hostile.har")
        let page = folder.appending(path: "hostile.html")
        try Samples.har(Array(repeating: entry, count: 120)).data().write(to: archive)
        try await waterfall(archive.path, "-o", page.path, "--title", hostile)
        let reading = try await read(page)
        #expect(reading.console.isEmpty, "\(reading.console)")
        #expect(reading.count("<details class=\"row") == 120)
        #expect(reading.count("<script") == 1 && reading.count("<img") == 0)
    }

    @Test func twoFilesAreCompared() async throws {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let (before, after) = (folder.appending(path: "old.har"), folder.appending(path: "new.har"))
        let page = folder.appending(path: "page.html")
        try Samples.har([Samples.entry()]).data().write(to: before)
        try Samples.har([Samples.entry(), Samples.entry("https://a.example/new", at: 60)]).data().write(to: after)
        try await waterfall(before.path, after.path, "-o", page.path)
        let html = try String(contentsOf: page, encoding: .utf8)
        #expect(html.contains("<h1>old → new</h1>") && html.contains("<dt>Added</dt><dd>1<"))
    }

    @Test func rejectsInvalidArchiveWithReason() async throws {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let file = folder.appending(path: "no.har")
        try Data("[]".utf8).write(to: file)
        let error = await #expect(throws: Program.Failure.self) { try await waterfall(file.path) }
        #expect(
            error?.description.contains("no.har”: The file is JSON, but not a HAR: it has no object “log”.") == true
        )
        #expect(error?.status == 1)
    }

    @Test(
        arguments: [
            [], ["a.har", "b.har", "c.har"], ["a.har", "--har", "b.har"], ["--demo", "a.har"], ["a.har", "-o"],
            ["--unknown"],
        ] as [[String]]
    )
    func invalidArgumentsHaveStatus64(_ arguments: [String]) async {
        let error = await #expect(throws: Program.Failure.self) { try await Program.waterfall.run(arguments) }
        #expect(error?.status == 64)
        #expect(error?.description.contains("\nusage: waterfall ") == true)
    }

    #if os(Linux)
    @Test func failsIfStandardOutputCannotBeWritten() async throws {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let archive = folder.appending(path: "one.har")
        try Samples.har([Samples.entry()]).data().write(to: archive)
        let shell = Program(path: "/bin/sh")
        for argument in [archive.path, "--help"] {
            let error = await #expect(throws: Program.Failure.self) {
                try await shell.run(["-c", "exec \"$0\" \"$1\" > /dev/full", Program.waterfall.path, argument])
            }
            #expect(error?.description.contains("cannot be written: No space left on device.") == true)
        }
    }
    #endif
}
