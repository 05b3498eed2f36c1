import HTTPTypes
import HTTPTypesConversion
import Sluice
import Testing

@Suite struct MessageConversionTests {
    @Test(arguments: [
        Sluice.HTTPRequest(scheme: "https", authority: "a.example", path: "/"),
        .init(
            method: .post,
            scheme: "http",
            authority: "[::1]:8080",
            path: "/a?b=c&d",
            headers: ["Accept": "text/html"]
        ),
        .init(method: "BREW", scheme: "https", authority: "a.example:444", path: "/%C3%BC;v=1"),
        .init(method: "get", scheme: "https", authority: "A.example", path: "//", headers: ["Via": "a", "via": "b"]),
    ])
    func requestsComeBackAsTheyWere(_ request: Sluice.HTTPRequest) throws {
        let converted = try HTTPTypes.HTTPRequest(request)
        #expect(converted.method.rawValue == request.method.rawValue)
        #expect(converted.scheme == request.scheme && converted.authority == request.authority)
        #expect(converted.path == request.path)
        let back = try Sluice.HTTPRequest(converted)
        #expect(back.method == request.method && back.url == request.url && back.headers == request.headers)
        #expect(back.body.isNone)
    }

    @Test func theBodyIsGivenApart() async throws {
        let request = HTTPTypes.HTTPRequest(method: .put, scheme: "HTTPS", authority: "a.example", path: "/")
        let converted = try Sluice.HTTPRequest(request, body: .data(.init("text".utf8)))
        #expect(converted.scheme == "https")
        #expect(converted.body.length == 4)
    }

    @Test(arguments: [
        ("", "https", "a.example", "/", ConversionError.invalidMethod("")),
        ("GE T", "https", "a.example", "/", .invalidMethod("GE T")),
        ("GET", "ht\ntp", "a.example", "/", .invalidPseudoHeader(":scheme")),
        ("GET", "https", "a\r\n", "/", .invalidPseudoHeader(":authority")),
        ("GET", "https", "a.example", "/\r\nX: y", .invalidPseudoHeader(":path")),
    ])
    func requestsThatAreNotValidAreRefused(
        _ method: String,
        _ scheme: String,
        _ authority: String,
        _ path: String,
        _ error: ConversionError
    ) {
        let request = Sluice.HTTPRequest(
            method: HTTPMethod(rawValue: method),
            scheme: scheme,
            authority: authority,
            path: path
        )
        #expect(throws: error) { try HTTPTypes.HTTPRequest(request) }
    }

    @Test(
        arguments: [
            (nil, "a.example", "/", ConversionError.missingPseudoHeader(":scheme")),
            ("https", nil, "/", .missingPseudoHeader(":authority")),
            ("https", "a.example", nil, .missingPseudoHeader(":path")),
            ("ftp", "a.example", "/", .invalidPseudoHeader(":scheme")),
            ("https", "", "/", .invalidPseudoHeader(":authority")),
            ("https", "a.example", "*", .invalidPseudoHeader(":path")),
            ("https", "a.example", "", .invalidPseudoHeader(":path")),
        ] as [(String?, String?, String?, ConversionError)]
    )
    func partsThatSluiceCannotSendAreRefused(
        _ scheme: String?,
        _ authority: String?,
        _ path: String?,
        _ error: ConversionError
    ) {
        let request = HTTPTypes.HTTPRequest(method: .get, scheme: scheme, authority: authority, path: path)
        #expect(throws: error) { try Sluice.HTTPRequest(request) }
    }

    @Test func extendedConnectIsRefused() {
        var request = HTTPTypes.HTTPRequest(method: .connect, scheme: "https", authority: "a.example", path: "/chat")
        request.extendedConnectProtocol = "websocket"
        #expect(throws: ConversionError.extendedConnect) { try Sluice.HTTPRequest(request) }
    }

    @Test(arguments: [100, 200, 204, 304, 404, 499, 599, 999])
    func responsesComeBackAsTheyWere(_ code: Int) throws {
        let headers: HTTPHeaders = ["Set-Cookie": "a=1", "ETag": "\"x\"", "Set-Cookie": "b=2"]
        let response = Sluice.HTTPResponse(status: HTTPStatus(code), headers: headers, version: .http2)
        let converted = try HTTPTypes.HTTPResponse(response)
        #expect(converted.status.code == code)
        let back = try Sluice.HTTPResponse(converted, version: .http2)
        #expect(back.status == response.status && back.headers == headers && back.version == .http2)
    }

    @Test(arguments: [-1, 0, 99, 1000, Int.max])
    func statusesWithoutThreeDigitsAreRefused(_ code: Int) {
        let response = Sluice.HTTPResponse(status: HTTPStatus(code))
        #expect(throws: ConversionError.invalidStatus(code)) { try HTTPTypes.HTTPResponse(response) }
    }

    @Test func aStatusOfTwoDigitsIsRefused() {
        let response = HTTPTypes.HTTPResponse(status: .init(code: 99))
        #expect(throws: ConversionError.invalidStatus(99)) { try Sluice.HTTPResponse(response) }
    }

    @Test func descriptionsHaveNoValues() {
        let errors: [ConversionError] = [
            .invalidMethod("s3cret"), .invalidFieldName("s3cret"), .invalidFieldValue(name: "X-Token"),
            .tooManyFields(limit: 1), .missingPseudoHeader(":path"), .invalidPseudoHeader(":path"), .extendedConnect,
            .invalidStatus(7),
        ]
        for error in errors { #expect(!"\(error)".contains("s3cret") && "\(error)".hasSuffix(".")) }
    }
}
