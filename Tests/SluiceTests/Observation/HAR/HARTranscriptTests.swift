import Foundation
import SluiceHTTP
import SluiceTesting
import Testing

@testable import Sluice

@Suite struct HARTranscriptTests {
    /// 2026-01-01 00:00 UTC.
    private static let received = Date(timeIntervalSince1970: 1_767_225_600)

    private func entry(
        _ request: HTTPRequest = HTTPRequest(scheme: "http", authority: "a.example", path: "/"),
        head: HTTPResponse = HTTPResponse(status: .ok),
        body: String = "",
        _ redaction: Redaction = .standard,
        secret: [HTTPHeaderName] = [],
        maximumBodyBytes: Int = 1000
    ) -> HAR.Entry {
        let transcript = HARTranscript(redaction: redaction, maximumBodyBytes: maximumBodyBytes)
        let response = ServerResponse(request: request, head: head, body: Data(body.utf8))
        return transcript.entry(request, .success(response), secret, received: Self.received)
    }

    private func posting(_ body: RequestBody, _ contentType: String) -> HTTPRequest {
        HTTPRequest(
            method: .post,
            scheme: "http",
            authority: "a",
            path: "/",
            headers: [.contentType: contentType],
            body: body
        )
    }

    @Test func redactsSecretsEverywhere() throws {
        let request = HTTPRequest(
            method: .post,
            scheme: "https",
            authority: "ada:s3cret@a.example",
            path: "/login?access_token=s3cret&q=1",
            headers: [
                .authorization: "Bearer s3cret", .cookie: "sid=s3cret; b=s3cret", "X-Own": "s3cret",
                .contentType: "application/json",
            ],
            body: .data(Data(#"{"password":"s3cret","name":"Ada"}"#.utf8))
        )
        let head = HTTPResponse(
            status: .found,
            headers: [
                .setCookie: "sid=s3cret; Path=/; HttpOnly", .location: "/next?token=s3cret",
                .contentType: "application/json",
            ]
        )
        let entry = entry(request, head: head, body: #"{"refresh_token":"s3cret"}"#, secret: ["X-Own"])
        let text = String(decoding: try HAR(entries: [entry]).data(), as: UTF8.self)
        #expect(!text.contains("s3cret"), "\(text)")
        #expect(text.contains("Ada") && entry.request.cookies.map(\.name) == ["sid", "b"])
        #expect(entry.response.cookies.first?.httpOnly == true && entry.response.cookies.first?.path == "/")
        let open = HARTranscript(redaction: .none, maximumBodyBytes: 1000)
            .entry(
                request,
                .success(ServerResponse(request: request, head: head, body: Data())),
                [],
                received: Self.received
            )
        #expect(open.request.cookies.map(\.value) == ["s3cret", "s3cret"])
        #expect(open.response.redirectURL == "/next?token=s3cret")
    }

    @Test func redactsErrorText() {
        let transcript = HARTranscript(redaction: .standard, maximumBodyBytes: 0)
        let error = SluiceError(.interceptorFailed, "The gate said password=s3cret to us.")
        #expect(transcript.text(of: error) == "interceptorFailed: The gate said password=REDACTED to us.")
    }

    @Test(
        arguments: [
            (
                "/?a=1&b=c%20d+e&a=%zz&=x&f&%ff",
                [["a", "1"], ["b", "c d e"], ["a", "%zz"], ["", "x"], ["f", ""], ["%ff", ""]]
            ),
            ("/", []), ("/?", []), ("/?a=b=c#d=e", [["a", "b=c"]]), ("/?%", [["%", ""]]), ("/?%4", [["%4", ""]]),
        ] as [(String, [[String]])]
    )
    func decodesQueries(_ path: String, _ expected: [[String]]) {
        let entry = entry(HTTPRequest(scheme: "http", authority: "a", path: path), .none)
        #expect(entry.request.queryString.map { [$0.name, $0.value] } == expected)
    }

    @Test func recordsBodiesAsFormTextOrBase64() {
        let form = entry(posting(.data(Data("a=1&b=c+d".utf8)), "application/x-www-form-urlencoded")).request.postData
        #expect(form?.params.map(\.value) == ["1", "c d"] && form?.text == "")
        let json = entry(posting(.data(Data("[1]".utf8)), "application/json")).request.postData
        #expect(json?.text == "[1]" && json?.params.isEmpty == true)
        let bytes = entry(posting(.data(Data([0xFF, 0xFE, 0, 0xD8, 0x80])), "image/png")).request.postData
        #expect(bytes?.encoding == "base64" && bytes?.text == "//4A2IA=")
        let file = entry(posting(.file(URL(filePath: "/x")), "image/png"))
        #expect(file.request.postData?.comment == "A file, which is not recorded." && file.request.bodySize == nil)
        #expect(entry().request.postData == nil)
    }

    @Test(arguments: [([:], 1200), (["Content-Encoding": "gzip"], -1)] as [(HTTPHeaders, Int)])
    func sizeOfDownloadIsNumberOfBytesReceived(_ headers: HTTPHeaders, _ size: Int) {
        let request = HTTPRequest(scheme: "http", authority: "a", path: "/")
        var response = ServerResponse(
            request: request,
            head: HTTPResponse(status: .ok, headers: headers),
            body: Data()
        )
        response.metrics.total = .milliseconds(1)
        response.metrics.bytesReceived = 1200
        let entry = HARTranscript(redaction: .standard, maximumBodyBytes: 1000)
            .entry(request, .success(response), [], received: Self.received)
        #expect(entry.response.content.size == size && entry.response.bodySize == 1200)
        #expect(entry.response.content.text == nil)
    }

    @Test func omitsLongBodies() {
        let long = String(repeating: "x", count: 1001)
        let content = entry(body: long).response.content
        #expect(content.text == nil && content.size == 1001 && content.comment == "Too long to record: 1001 bytes.")
        #expect(entry(body: String(long.dropLast())).response.content.text?.count == 1000)
        #expect(entry(body: "x", maximumBodyBytes: 0).response.content.text == nil)
    }

    @Test(arguments: [
        ("127.0.0.1:8080", "127.0.0.1", "8080"), ("[2001:db8::1]:443", "2001:db8::1", "443"), (":", "", ""),
    ])
    func separatesAddressAndPort(_ address: String, _ host: String, _ port: String) {
        var metrics = TransferMetrics()
        metrics.remoteAddress = address
        let request = HTTPRequest(scheme: "http", authority: "a", path: "/")
        let response = ServerResponse(request: request, head: HTTPResponse(status: .ok), body: Data(), metrics: metrics)
        let entry = HARTranscript(redaction: .none, maximumBodyBytes: 0)
            .entry(request, .success(response), [], received: Self.received)
        #expect(entry.serverIPAddress == host && entry.connection == port)
    }

    @Test func copiesOfFieldsAreRedactedToo() throws {
        let type = "text/plain; access_token=s3cret"
        var request = HTTPRequest(method: .post, scheme: "http", authority: "a", path: "/")
        request.headers = ["Content-Type": type]
        request.body = .data(Data("x".utf8))
        let head = HTTPResponse(
            status: .ok,
            headers: ["Content-Type": type, "Set-Cookie": "sid=1; Path=/reset?token=s3cret; Domain=token=s3cret"]
        )
        let response = ServerResponse(request: request, head: head, body: Data("x".utf8))
        let entry = HARTranscript(redaction: .standard, maximumBodyBytes: 100)
            .entry(request, .success(response), [], received: Self.received)
        #expect(entry.request.postData?.mimeType.hasPrefix("text/plain") == true)
        #expect(entry.response.cookies.first?.path?.hasPrefix("/reset?token=") == true)
        let text = String(decoding: try JSONEncoder().encode(entry), as: UTF8.self)
        #expect(!text.contains("s3cret"), "\(text)")
    }

    /// A comparison of such characters takes quadratic time.
    @Test func attributeOfCombiningCharactersTakesLinearTime() {
        let marks = String(repeating: "\u{301}\u{323}", count: 240_000)
        let cookie = HAR.Cookie(set: "a=1; \(marks)=x; Path=/", isHidden: false, received: Self.received)
        #expect(cookie?.path == "/")
    }

    @Test(arguments: ["", ";", "=x", "; Path=/", "name", " ; ;", "\u{301}=;"])
    func ignoresInvalidSetCookie(_ field: String) {
        let cookie = HAR.Cookie(set: field, isHidden: false, received: Self.received)
        #expect(cookie.map(\.name).map { $0 == "\u{301}" } ?? true)
    }

    @Test(
        arguments: [
            ("Expires=Wed, 21 Oct 2015 07:28:00 GMT", "2015-10-21T07:28:00.000Z"),
            ("expires=Wednesday, 21-Oct-15 07:28:00 GMT", "2015-10-21T07:28:00.000Z"),
            ("Expires=Wed Oct 21 07:28:00 2015", "2015-10-21T07:28:00.000Z"),
            ("Expires=Fri, 31 Dec 9999 23:59:59 GMT", "9999-12-31T23:59:59.000Z"),
            ("Expires=soon", nil), ("Expires=", nil), ("Expires", nil), ("Path=/", nil),
            ("Max-Age=86400", "2026-01-02T00:00:00.000Z"), ("Max-Age=0", "1970-01-01T00:00:00.000Z"),
            ("Max-Age=-1", "1970-01-01T00:00:00.000Z"), ("Max-Age=x", nil), ("Max-Age=+5", nil), ("Max-Age", nil),
            ("Max-Age=99999999999999999999", "9999-12-31T23:59:59.000Z"),
            ("Max-Age=-99999999999999999999", "1970-01-01T00:00:00.000Z"),
            ("Max-Age=60; Expires=Wed, 21 Oct 2015 07:28:00 GMT", "2026-01-01T00:01:00.000Z"),
            ("Expires=Wed, 21 Oct 2015 07:28:00 GMT; Max-Age=60", "2026-01-01T00:01:00.000Z"),
            ("Expires=Wed, 21 Oct 2015 07:28:00 GMT; Expires=never", "2015-10-21T07:28:00.000Z"),
        ] as [(String, String?)]
    )
    func expiryOfACookieIsISO8601(_ attributes: String, _ expected: String?) {
        let cookie = HAR.Cookie(set: "a=b; \(attributes)", isHidden: false, received: Self.received)
        #expect(cookie?.expires == expected)
    }

    /// Any date that an HTTP server can write is the same date in the recording.
    @Test func datesOfCookiesSurviveTheConversion() throws {
        var random = SeededGenerator(seed: 5)
        for _ in 0..<1000 {
            // Up to the end of the year 9999.
            let date = Date(timeIntervalSince1970: Double(Int64.random(in: 0...253_402_300_799, using: &random)))
            let field = "a=b; Expires=\(HTTPDate.string(from: date))"
            let text = try #require(HAR.Cookie(set: field, isHidden: false, received: Self.received)?.expires)
            #expect(HARDate.date(of: text) == date, "\(text)")
            #expect(text.count == 24 && text.hasSuffix(".000Z"), "\(text)")
        }
    }

    @Test func headersAreThoseThatTheTransportSent() {
        let request = HTTPRequest(
            scheme: "https",
            authority: "a.example",
            path: "/",
            headers: ["X-Own": "1", .authorization: "Bearer s3cret"]
        )
        var metrics = TransferMetrics()
        let headers = {
            let response = ServerResponse(
                request: request,
                head: HTTPResponse(status: .ok),
                body: Data(),
                metrics: metrics
            )
            let transcript = HARTranscript(redaction: .standard, maximumBodyBytes: 0)
            let entry = transcript.entry(request, .success(response), [], received: Self.received)
            return entry.request.headers.map { "\($0.name): \($0.value)" }
        }
        // A response of the cache has no metrics, because nothing was sent.
        #expect(headers() == ["X-Own: 1", "Authorization: Bearer REDACTED"])
        metrics.total = .milliseconds(1)
        #expect(headers() == ["Host: a.example", "X-Own: 1", "Authorization: Bearer REDACTED"])
        metrics.sentRequest = SentRequest(
            headers: [.host: "a.example", .cookie: "sid=s3cret", "Accept": "*/*"],
            headLength: 60,
            end: nil
        )
        #expect(headers() == ["Host: a.example", "Cookie: REDACTED", "Accept: */*"])
    }
}
