import Foundation
import Sluice
import Testing

@testable import WaterfallPage

/// The samples in the folder Archives have the shapes of the files that the named programs export.
@Suite struct ArchiveTests {
    private func archive(_ name: String) throws -> Archive {
        let file = try #require(Bundle.module.url(forResource: "Archives/\(name)", withExtension: "har"))
        return try Archive(parsing: Data(contentsOf: file))
    }

    private func entry(_ json: String) throws -> HAR.Entry {
        let request = #""request":{"method":"GET","url":"https://a.example/"}"#
        let text = #"{"log":{"entries":[{"startedDateTime":"2026-01-31T12:00:00Z",\#(request),\#(json)}]}}"#
        return try #require(try Archive(parsing: Data(text.utf8)).har.entries.first)
    }

    @Test(arguments: [
        ("chrome", "WebInspector", 4), ("firefox", "Firefox", 3), ("safari", "WebKit Web Inspector", 2),
        ("charles", "Charles Proxy", 2), ("proxy", "Proxy", 3),
    ])
    func everyRequestOfAnotherProgramIsDrawn(_ name: String, _ creator: String, _ count: Int) throws {
        let archive = try archive(name)
        #expect(archive.har.recorder.hasPrefix(creator))
        #expect(archive.har.entries.count == count)
        let html = WaterfallPage(archive.har, remarks: archive.remarks).html
        #expect(html.components(separatedBy: "<details class=\"row").count - 1 == count)
        #expect(html.contains("recorded by \(creator)"))
    }

    @Test func failuresAndSizesOfChromeAreRead() throws {
        let entries = try archive("chrome").har.entries
        #expect(entries.map(\.error) == [nil, nil, "net::ERR_BLOCKED_BY_CLIENT", nil])
        #expect(entries.map(\.response.bodySize) == [2120, 0, 0, 0])
        #expect(entries[1].comment == "Served from the disk cache.")
        #expect(entries[3].comment == "2 WebSocket messages.")
        #expect(entries[0].timings.connect == 21)
    }

    @Test func tlsOfFirefoxIsPartOfConnecting() throws {
        let entries = try archive("firefox").har.entries
        #expect(entries[0].timings.connect == 32 && entries[0].timings.ssl == 20)
        let waterfall = Waterfall(try archive("firefox").har)
        #expect(waterfall.groups.map(\.rows.count) == [2, 1])
        #expect(waterfall.rows[0].duration == 80)
        #expect(waterfall.rows[2].segments.isEmpty)
    }

    @Test func missingTimesOfSafariAreNone() throws {
        let entries = try archive("safari").har.entries
        #expect(entries[0].timings.connect == 40)
        #expect(entries[1].timings.blocked == nil && entries[1].timings.wait == 0)
        #expect(entries[0].response.bodySize == 512)
    }

    @Test func textOfCharlesIsDecoded() throws {
        let archive = try archive("charles")
        #expect(archive.har.entries[1].error == "Client closed connection before a request was made.")
        let html = WaterfallPage(archive.har).html
        #expect(html.components(separatedBy: "{&quot;id&quot;:7}").count - 1 == 2)
        #expect(html.contains("✕ Client closed connection bef"))
    }

    @Test func valuesOfOtherTypesAreConvertedOrLeftOut() throws {
        let archive = try archive("proxy")
        #expect(archive.skippedEntries == 3 && archive.undatedEntries == 1)
        let entries = archive.har.entries
        #expect(entries.map(\.request.method) == ["GET", "GET", "GET"])
        #expect(entries[0].request.headers.map(\.value) == ["*/*", "2"])
        #expect(entries[0].response.status == 404 && entries[0].time == 41.5 && entries[0].timings.blocked == 1.5)
        #expect(entries[0].response.headers.map(\.name) == ["Server"])
        #expect(entries[0].comment == "[#1]")
        #expect(entries[1].error == "net::ERR_ABORTED")
        // It follows the entry before it, which takes 12 ms.
        #expect(abs(entries[2].startedDateTime.timeIntervalSince1970 - 1_769_860_800.512) < 1e-4)
        #expect(archive.har.title == "Without a start time")
        #expect(archive.remarks.map { $0.contains("3 entries") } == [true, false])
        let html = WaterfallPage(archive.har, remarks: archive.remarks).html
        #expect(html.contains("Not shown: 3 entries without a URL."))
        #expect(html.contains("<pre tabindex=\"0\">not found</pre>"))
    }

    @Test(
        arguments: [
            // TLS within the time to connect, beside it, and without a total that tells.
            (#""time":50,"timings":{"connect":30,"ssl":10,"wait":20}"#, 30),
            (#""time":60,"timings":{"connect":30,"ssl":10,"wait":20}"#, 40),
            (#""timings":{"connect":30,"ssl":10,"wait":20}"#, 30),
            (#""timings":{"connect":5,"ssl":10,"wait":20}"#, 15),
            (#""time":60,"timings":{"connect":30,"ssl":-1,"wait":30}"#, 30),
        ] as [(String, Double)]
    )
    func timeToConnectIncludesTLS(_ json: String, _ connect: Double) throws {
        #expect(try entry(json).timings.connect == connect)
    }

    @Test(
        arguments: [
            ("2026-01-31T12:00:00Z", 1_769_860_800), ("2026-01-31T12:00:00.5Z", 1_769_860_800.5),
            ("2026-01-31T13:00:00.123456+01:00", 1_769_860_800.123456), ("2026-01-31T07:30:00-0430", 1_769_860_800),
            ("2026-01-31t12:00:00z", 1_769_860_800), ("2026-01-31 12:00:00", 1_769_860_800),
            ("2026-01-31T14+02", nil), ("2026-01-31T14:00+02", 1_769_860_800), ("1769860800", 1_769_860_800),
            ("1769860800250", 1_769_860_800.25), ("2024-02-29T00:00:00Z", 1_709_164_800),
            ("1969-12-31T23:59:59Z", -1), ("2000-03-01T00:00:00Z", 951_868_800),
            ("2023-02-29T00:00:00Z", nil), ("2026-13-01T00:00:00Z", nil), ("2026-01-31T24:00:00Z", nil),
            ("2026-01-31T12:00:00.Z", nil), ("2026-01-31T12:00:00+25:00", nil), ("2026-01-31T12:00:00Zx", nil),
            ("yesterday", nil), ("", nil), ("-5", nil), ("nan", nil), ("inf", nil), ("1e300", nil),
        ] as [(String, Double?)]
    )
    func datesOfManyForms(_ text: String, _ seconds: Double?) {
        let date = ArchiveDate.date(text)
        #expect((date == nil) == (seconds == nil))
        if let date, let seconds { #expect(abs(date.timeIntervalSince1970 - seconds) < 1e-5, "\(date)") }
    }

    @Test(arguments: [
        (Data(), "The file is not a HAR. The text is not valid JSON"),
        (Data("no".utf8), "The file is not a HAR. The text is not valid JSON"),
        (Data("[]".utf8), "it has no object “log”."), (Data("{}".utf8), "it has no object “log”."),
        (Data(#"{"log":[]}"#.utf8), "it has no object “log”."),
        (Data(#"{"log":{"entries":{}}}"#.utf8), "its “log” has no array “entries”."),
        (Data(#"{"log":{"entries":[1,{}]}}"#.utf8), "The file has 2 entries, but none has a request with a URL."),
        (Data(" <?xml version=\"1.0\"?><log/>".utf8), "The file is HTML or XML, not a HAR."),
        (Data([0x1F, 0x8B, 8, 0]), "The file is compressed with gzip."),
        (Data([0x50, 0x4B, 3, 4]), "The file is compressed with ZIP."),
        (Data(#"{"log":{"entries":"#.utf8) + Data(repeating: UInt8(ascii: "["), count: 100_000), "not a HAR"),
    ])
    func otherFilesFailWithAReason(_ data: Data, _ reason: String) {
        let error = #expect(throws: ArchiveError.self) { try Archive(parsing: data) }
        #expect(error?.description.contains(reason) == true, "\(error?.description ?? "")")
    }

    @Test func encodingsOfTheFile() throws {
        let text = #"{"log":{"entries":[{"request":{"url":"https://a.example/ü"}}]}}"#
        let units = Array(text.utf16)
        let little = Data([0xFF, 0xFE] + units.flatMap { [UInt8($0 & 0xFF), UInt8($0 >> 8)] })
        let big = Data([0xFE, 0xFF] + units.flatMap { [UInt8($0 >> 8), UInt8($0 & 0xFF)] } + [0])
        for data in [Data(text.utf8), Data([0xEF, 0xBB, 0xBF]) + Data(text.utf8), little, big] {
            #expect(try Archive(parsing: data).har.entries.map(\.request.url) == ["https://a.example/ü"])
        }
        // A byte of another encoding within a text.
        let broken = Data(text.utf8.map { $0 == 0xC3 ? UInt8(ascii: "x") : $0 })
        #expect(try Archive(parsing: broken).har.entries.count == 1)
    }

    @Test func anEmptyRecordingIsOne() throws {
        let archive = try Archive(parsing: Data(#"{"log":{"entries":[]}}"#.utf8))
        #expect(WaterfallPage(archive.har).html.contains("No exchanges were recorded."))
    }

    @Test func aRecordingOfSluiceIsReadAsByItsParser() throws {
        let har = Samples.har([
            Samples.entry {
                $0.requestID = 3
                $0.attempt = 2
                $0.isFromRetry = true
                $0.error = "timedOut: The server did not answer."
                $0 = $0.waiting(at: "RateLimit", milliseconds: 4)
                $0.request.postData = HAR.PostData(mimeType: "text/plain")
            }
        ])
        let data = try har.data()
        var read = try Archive(parsing: data).har
        read.entries[0].comment = nil
        #expect(read == (try HAR(parsing: data)))
    }
}
