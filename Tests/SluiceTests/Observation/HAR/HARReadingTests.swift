import Foundation
import Testing

@testable import Sluice

@Suite struct HARReadingTests {
    private func har(_ entry: String, log: String = "") throws -> HAR {
        try HAR(parsing: Data(#"{"log":{\#(log)"entries":[\#(entry)]}}"#.utf8))
    }

    /// An entry of Chrome: times that are null or -1, additional members, and an HTTP version in lowercase.
    private static let chrome = """
        {"_initiator":{"type":"script","stack":{"callFrames":[{"url":"https://a.example/x.js","lineNumber":3}]}},"_priority":"High",
         "_resourceType":"fetch","cache":{},"connection":"51234","pageref":"page_1","request":{"method":"POST",
         "url":"https://a.example/login?next=%2F","httpVersion":"h2","headers":[{"name":":authority","value":"a.example"}],
         "queryString":[{"name":"next","value":"%2F"}],"cookies":[{"name":"a","value":"b","path":"/","domain":"a.example",
         "expires":"2027-01-01T00:00:00.000Z","httpOnly":true,"secure":true,"sameSite":"Lax"}],"headersSize":-1,"bodySize":9,
         "postData":{"mimeType":"application/x-www-form-urlencoded","text":"user=ada","params":[{"name":"user","value":"ada"}]}},
         "response":{"status":302,"statusText":"","httpVersion":"h2","headers":[],"cookies":[],"content":{"size":0,
         "mimeType":"x-unknown","compression":0},"redirectURL":"/home","headersSize":-1,"bodySize":-1,"_transferSize":312,
         "_error":null},"serverIPAddress":"[2001:db8::1]","startedDateTime":"2026-03-04T05:06:07.891Z","time":81.40200000000186,
         "timings":{"blocked":1.5,"dns":-1,"ssl":-1,"connect":-1,"send":0.2,"wait":78.4,"receive":1.302,"_blocked_queueing":1.2}}
        """

    /// An entry of Firefox: a time zone, no `ssl`, integers, and a page.
    private static let firefox = """
        {"startedDateTime":"2026-03-04T06:06:08.000+01:00","request":{"bodySize":0,"method":"GET","url":"https://a.example/home",
         "httpVersion":"HTTP/2","headers":[{"name":"Host","value":"a.example"}],"cookies":[],"queryString":[],"headersSize":420},
         "response":{"status":200,"statusText":"OK","httpVersion":"HTTP/2","headers":[],"cookies":[],"content":{
         "mimeType":"image/png","size":5,"encoding":"base64","text":"AAECAwQ="},"redirectURL":"","headersSize":310,
         "bodySize":315},"cache":{},"timings":{"blocked":0,"dns":12,"connect":20,"ssl":14,"send":0,"wait":30,"receive":2},
         "time":64,"_securityState":"secure","serverIPAddress":"192.0.2.1","connection":443,"pageref":"page_1"}
        """

    /// An entry of a minimal recorder, which is also the form of a blocked request.
    private static let bare = #"{"startedDateTime":"2026-03-04T05:06:09Z","request":{"method":"GET","url":"x:y"}}"#

    @Test(arguments: [
        (#""_encoding":"base64""#, "base64"), (#""encoding":"base64""#, "base64"),
        (#""_encoding":"base64","encoding":"gzip""#, "base64"), (#""encoding":7"#, nil), (#""comment":"""#, nil),
    ])
    func readsEncodingOfARequestBody(_ member: String, _ encoding: String?) throws {
        let postData = #""postData":{"mimeType":"a/b","text":"AAECAwQ=",\#(member)}"#
        let entry = Self.bare.replacingOccurrences(of: #""url":"x:y""#, with: #""url":"x:y",\#(postData)"#)
        let har = try har(entry)
        #expect(har.entries.first?.request.postData?.encoding == encoding)
        let again = try HAR(parsing: har.data())
        #expect(again.entries.first?.request.postData?.encoding == encoding)
    }

    @Test func readsEntryOfChrome() throws {
        let har = try har(Self.chrome, log: #""creator":{"name":"WebInspector","version":"537.36"},"version":"1.2","#)
        let entry = try #require(har.entries.first)
        #expect(har.recorder == "WebInspector 537.36" && har.pages.isEmpty && har.title == nil)
        #expect(entry.startedDateTime.timeIntervalSince1970 == 1_772_600_767.891)
        #expect(entry.timings == HAR.Timings(blocked: 1.5, send: 0.2, wait: 78.4, receive: 1.302))
        #expect(abs(entry.time - entry.timings.total) < 0.001)
        #expect(entry.request.postData?.params == [HAR.Parameter(name: "user", value: "ada")])
        #expect(entry.request.headersSize == nil && entry.request.bodySize == 9)
        #expect(entry.request.cookies.first?.httpOnly == true)
        #expect(entry.response.status == 302 && entry.response.redirectURL == "/home" && entry.response.bodySize == nil)
        #expect(entry.serverIPAddress == "[2001:db8::1]" && entry.connection == "51234" && entry.requestID == nil)
    }

    @Test func readsEntryOfFirefox() throws {
        let page =
            #"{"startedDateTime":"2026-03-04T06:06:07+01:00","id":"page_1","title":"Home","pageTimings":{"onLoad":-1}}"#
        let entry = try har(Self.firefox, log: #""pages":[\#(page)],"#)
        #expect(entry.title == "Home" && entry.pages.first?.onLoad == nil)
        let first = try #require(entry.entries.first)
        #expect(first.startedDateTime.timeIntervalSince1970 == 1_772_600_768)
        #expect(first.connection == "443" && first.response.content.encoding == "base64")
        #expect(first.timings.ssl == 14 && first.timings.total == 64)
    }

    @Test func usesDefaultsForMissingMembers() throws {
        let mark = Data([0xEF, 0xBB, 0xBF])
        let har = try HAR(parsing: mark + Data(#"{"log":{"entries":[\#(Self.bare)]},"extra":1}"#.utf8))
        let entry = try #require(har.entries.first)
        #expect(entry.response.status == 0 && entry.time == 0 && entry.request.headers.isEmpty)
        #expect(har.version == "1.2" && har.recorder.isEmpty)
    }

    @Test func readsSliceOfData() throws {
        let data = Data("xx\(#"{"log":{"entries":[]}}"#)".utf8)
        #expect(try HAR(parsing: data.dropFirst(2)).entries.isEmpty)
    }

    @Test func treatsNumbersOutOfBoundsAsUnknown() throws {
        let text =
            Self.bare.dropLast() + #","response":{"status":2e2,"bodySize":1e300,"content":{"size":-7}},"time":-5}"#
        let entry = try #require(try har(String(text)).entries.first)
        #expect(entry.response.status == 200 && entry.response.bodySize == nil && entry.response.content.size == 0)
        #expect(entry.time == 0)
    }

    @Test(arguments: [
        ("", "it is not JSON."), ("{", "it is not JSON."), ("[]", "it is not a JSON object."),
        (#"{"log":[]}"#, "log has the wrong type"), ("{}", "log is missing."),
        (#"{"log":{}}"#, "log.entries is missing."), (#"{"log":{"entries":{}}}"#, "log.entries has the wrong type"),
        (#"{"log":{"entries":[{}]}}"#, "log.entries[0].startedDateTime is missing."),
        (
            #"{"log":{"entries":[{"startedDateTime":"yesterday"}]}}"#,
            "log.entries[0].startedDateTime is not valid."
        ),
        (
            #"{"log":{"entries":[{"startedDateTime":"2026-01-01T00:00:00Z","request":{"method":"GET"}}]}}"#,
            "log.entries[0].request.url is missing."
        ),
        (#"{"log":{"entries":[\#(bare),{"startedDateTime":5}]}}"#, "log.entries[1].startedDateTime has the wrong type"),
    ])
    func rejectsInvalidArchiveNamingMember(_ text: String, _ reason: String) throws {
        let error = #expect(throws: SluiceError.self) { try HAR(parsing: Data(text.utf8)) }
        #expect(error?.code == .decodingFailed)
        #expect(error?.reason.hasPrefix("The data is not an HTTP archive: ") == true)
        #expect(error?.reason.contains(reason) == true, "\(error?.reason ?? "")")
    }

    @Test func rejectsDeepNesting() {
        let deep = String(repeating: "[", count: 100_000)
        #expect(throws: SluiceError.self) { try HAR(parsing: Data(#"{"log":{"entries":[],"x":\#(deep)"#.utf8)) }
    }

    @Test func roundTripsWrittenArchive() throws {
        for entry in [Self.chrome, Self.firefox, Self.bare] {
            let har = try har(entry)
            let data = try har.data()
            #expect(try HAR(parsing: data) == har)
            #expect(try HAR(parsing: data).data() == data)
        }
    }

    @Test func rejectsNaNTimeOnWriting() {
        var har = HAR()
        har.entries = [HAR.Entry(startedDateTime: Date(), request: HAR.Request(method: "GET", url: "http://a/"))]
        har.entries[0].time = .nan
        let error = #expect(throws: SluiceError.self) { try har.data() }
        #expect(error?.code == .encodingFailed)
    }

    @Test(arguments: [
        (0, "1970-01-01T00:00:00.000Z"), (1_767_225_600.0014, "2026-01-01T00:00:00.001Z"),
        (1_767_225_599.9996, "2026-01-01T00:00:00.000Z"), (1_767_225_600.29, "2026-01-01T00:00:00.290Z"),
        (1_767_225_600.001, "2026-01-01T00:00:00.001Z"), (-0.5, "1969-12-31T23:59:59.500Z"),
    ])
    func writesDatesToTheMillisecond(_ seconds: Double, _ text: String) throws {
        var har = HAR()
        let date = Date(timeIntervalSince1970: seconds)
        har.entries = [HAR.Entry(startedDateTime: date, request: HAR.Request(method: "GET", url: "http://a/"))]
        let written = String(decoding: try har.data(), as: UTF8.self)
        #expect(written.contains("\"\(text)\""), "\(written)")
    }
}
