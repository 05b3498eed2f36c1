import Foundation
import SluiceHTTP
import Testing

@testable import Sluice

@Suite struct HARTranscriptTests {
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
        return transcript.entry(request, .success(response), secret)
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
        let text = String(decoding: try HAR(log: HAR.Log(entries: [entry])).data(), as: UTF8.self)
        #expect(!text.contains("s3cret"), "\(text)")
        #expect(text.contains("Ada") && entry.request.cookies.map(\.name) == ["sid", "b"])
        #expect(entry.response.cookies.first?.httpOnly == true && entry.response.cookies.first?.path == "/")
        let open = HARTranscript(redaction: .none, maximumBodyBytes: 1000)
            .entry(request, .success(ServerResponse(request: request, head: head, body: Data())), [])
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
        #expect(file.request.postData?.comment == "A file, which is not kept." && file.request.bodySize == nil)
        #expect(entry().request.postData == nil)
    }

    @Test func omitsLongBodies() {
        let long = String(repeating: "x", count: 1001)
        let content = entry(body: long).response.content
        #expect(content.text == nil && content.size == 1001 && content.comment == "Too long to be kept: 1001 bytes.")
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
        let entry = HARTranscript(redaction: .none, maximumBodyBytes: 0).entry(request, .success(response), [])
        #expect(entry.serverIPAddress == host && entry.connection == port)
    }

    @Test(arguments: ["", ";", "=x", "; Path=/", "name", " ; ;", "\u{301}=;"])
    func ignoresInvalidSetCookie(_ field: String) {
        #expect(HAR.Cookie(set: field, isHidden: false).map(\.name).map { $0 == "\u{301}" } ?? true)
    }
}
