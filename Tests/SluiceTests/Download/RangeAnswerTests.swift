import SluiceHTTP
import Testing

@testable import Sluice

@Suite struct RangeAnswerTests {
    enum Expected: Sendable {
        case answer(RangeAnswer)
        case refusal
    }

    struct Case: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let head: HTTPResponse
        let question: RangeAnswer.RequestedRange
        let expected: Expected

        init(
            _ testDescription: String,
            _ status: HTTPStatus,
            _ headers: HTTPHeaders = [:],
            first: Int64? = nil,
            end: Int64? = nil,
            of resource: RemoteResource? = nil,
            completed: Int64 = 0,
            gives expected: Expected
        ) {
            self.testDescription = testDescription
            head = HTTPResponse(status: status, headers: headers)
            question = RangeAnswer.RequestedRange(first: first, end: end, resource: resource, completed: completed)
            self.expected = expected
        }
    }

    private static let request = HTTPRequest(method: .get, scheme: "http", authority: "h", path: "/f.bin")
    private static let known = resource(.entityTag("\"1\""), 100)

    private static func resource(_ validator: ResourceValidator?, _ length: Int64?) -> RemoteResource {
        RemoteResource(url: "http://h/f.bin", validator: validator, length: length, name: "f.bin")
    }

    private static func whole(_ validator: ResourceValidator?, _ length: Int64?) -> Expected {
        .answer(.whole(resource(validator, length)))
    }

    private static func part(_ range: Range<Int64>) -> Expected { .answer(.part(range, of: known)) }

    // RFC 9110 §15.3.1, §15.3.5; §14.2: a server may ignore the Range; §13.1.5: the resource may have changed.
    static let wholes: [Case] = [
        Case("200", 200, ["ETag": "\"1\"", "Content-Length": "100"], gives: whole(.entityTag("\"1\""), 100)),
        Case("200 without a length", 200, ["ETag": "\"1\""], gives: whole(.entityTag("\"1\""), nil)),
        Case("200 with a weak validator", 200, ["ETag": "W/\"1\"", "Content-Length": "100"], gives: whole(nil, 100)),
        Case(
            "200 that is encoded",
            200,
            ["ETag": "\"1\"", "Content-Length": "9", "Content-Encoding": "gzip"],
            gives: whole(nil, nil)
        ),
        Case(
            "200 to a resumption",
            200,
            ["ETag": "\"2\"", "Content-Length": "7"],
            first: 50,
            of: known,
            completed: 50,
            gives: whole(.entityTag("\"2\""), 7)
        ),
        Case(
            "200 to one of several ranges",
            200,
            ["ETag": "\"2\""],
            first: 50,
            end: 60,
            of: known,
            gives: .answer(.changed)
        ),
        Case(
            "200 to a probe",
            200,
            ["ETag": "\"1\"", "Content-Length": "100"],
            first: 0,
            end: 10,
            gives: whole(.entityTag("\"1\""), 100)
        ),
        Case(
            "200 that is not encoded",
            200,
            ["ETag": "\"1\"", "Content-Length": "100", "Content-Encoding": "identity"],
            gives: whole(.entityTag("\"1\""), 100)
        ),
        Case("204 has no bytes", 204, gives: whole(nil, 0)),
        Case("204 to a resumption", 204, first: 50, of: known, completed: 50, gives: .answer(.other)),
    ]

    // RFC 9110 §15.3.7, §14.4
    static let parts: [Case] = [
        Case(
            "as requested",
            206,
            ["Content-Range": "bytes 50-99/100", "ETag": "\"1\""],
            first: 50,
            of: known,
            gives: part(50..<100)
        ),
        Case(
            "fewer bytes than requested",
            206,
            ["Content-Range": "bytes 50-59/100", "ETag": "\"1\""],
            first: 50,
            of: known,
            gives: part(50..<60)
        ),
        Case(
            "with the length",
            206,
            ["Content-Range": "bytes 50-99/100", "ETag": "\"1\""],
            first: 50,
            of: resource(.entityTag("\"1\""), nil),
            gives: part(50..<100)
        ),
        Case(
            "of unknown length",
            206,
            ["Content-Range": "bytes 50-99/*", "ETag": "\"1\""],
            first: 50,
            of: known,
            gives: part(50..<100)
        ),
        Case(
            "of another version",
            206,
            ["Content-Range": "bytes 50-99/100", "ETag": "\"2\""],
            first: 50,
            of: known,
            gives: .answer(.changed)
        ),
        Case(
            "of another length",
            206,
            ["Content-Range": "bytes 50-99/200", "ETag": "\"1\""],
            first: 50,
            of: known,
            gives: .answer(.changed)
        ),
        Case(
            "of an encoded response",
            206,
            ["Content-Range": "bytes 50-99/100", "Content-Encoding": "br"],
            first: 50,
            of: known,
            gives: .answer(.changed)
        ),
        Case(
            "without a validator",
            206,
            ["Content-Range": "bytes 50-99/100"],
            first: 50,
            of: known,
            gives: .answer(.changed)
        ),
        Case("unrequested", 206, ["Content-Range": "bytes 0-99/100"], gives: .refusal),
        Case("of other bytes", 206, ["Content-Range": "bytes 40-99/100"], first: 50, of: known, gives: .refusal),
        Case(
            "of more bytes",
            206,
            ["Content-Range": "bytes 50-99/100"],
            first: 50,
            end: 60,
            of: known,
            gives: .refusal
        ),
        Case("without Content-Range", 206, first: 50, of: known, gives: .refusal),
        Case("with an invalid range", 206, ["Content-Range": "bytes 99-50/100"], first: 50, of: known, gives: .refusal),
        Case(
            "several",
            206,
            ["Content-Type": "multipart/byteranges; boundary=x"],
            first: 50,
            of: known,
            gives: .refusal
        ),
        Case(
            "to a probe",
            206,
            ["Content-Range": "bytes 0-9/100", "ETag": "\"1\""],
            first: 0,
            end: 10,
            gives: part(0..<10)
        ),
        Case(
            "to a probe, no validator",
            206,
            ["Content-Range": "bytes 0-9/100"],
            first: 0,
            end: 10,
            gives: .answer(.changed)
        ),
        Case(
            "to a probe, no length",
            206,
            ["Content-Range": "bytes 0-9/*", "ETag": "\"1\""],
            first: 0,
            end: 10,
            gives: .answer(.changed)
        ),
    ]

    // RFC 9110 §15.5.17
    static let others: [Case] = [
        Case(
            "416, complete",
            416,
            ["Content-Range": "bytes */100"],
            first: 100,
            of: known,
            completed: 100,
            gives: .answer(.complete)
        ),
        Case(
            "416, shorter",
            416,
            ["Content-Range": "bytes */40"],
            first: 50,
            of: known,
            completed: 50,
            gives: .answer(.changed)
        ),
        Case(
            "416 of another version",
            416,
            ["Content-Range": "bytes */100", "ETag": "\"2\""],
            first: 100,
            of: resource(.entityTag("\"1\""), nil),
            completed: 100,
            gives: .answer(.changed)
        ),
        Case(
            "416 of a later date",
            416,
            ["Content-Range": "bytes */100", "Last-Modified": "Mon, 23 Nov 2026 11:00:00 GMT"],
            first: 100,
            of: resource(.lastModified("Mon, 23 Nov 2026 10:00:00 GMT"), nil),
            completed: 100,
            gives: .answer(.changed)
        ),
        Case("416 without Content-Range", 416, first: 50, of: known, completed: 50, gives: .answer(.changed)),
        Case("416 without a range", 416, gives: .answer(.other)),
        Case("404", 404, gives: .answer(.other)),
        Case("304 without a condition", 304, gives: .answer(.other)),
        Case("503", 503, first: 50, of: known, gives: .answer(.other)),
    ]

    @Test(arguments: wholes + parts + others) func headsAreInterpreted(_ test: Case) {
        let answer = RangeAnswer(test.head, to: test.question, by: Self.request)
        switch test.expected {
        case .answer(let expected):
            #expect(answer == expected)
        case .refusal:
            if case .refused = answer { return }
            Issue.record("\(answer)")
        }
    }

    // RFC 9110 §8.8.3: a validator tells the versions of one resource apart, not two resources.
    @Test(arguments: [
        ("http://h/f.bin", true), ("http://h/f.bin?signature=2", true), ("http://h/g.bin", false),
        ("http://h/signed-2/f.bin", true), ("http://h/", false), ("http://mirror.h/pub/f.bin", true),
        ("http://mirror.h/g.bin", false), ("http://h:8080/f.bin", true),
    ])
    func bytesOfTwoResourcesAreNotCombined(url: String, isSame: Bool) throws {
        let head = HTTPResponse(status: 206, headers: ["Content-Range": "bytes 50-99/100", "ETag": "\"1\""])
        let parts = URIReference(url)
        let request = HTTPRequest(
            method: .get,
            scheme: "http",
            authority: try #require(parts.authority),
            path: parts.path + (parts.query.map { "?\($0)" } ?? "")
        )
        let question = RangeAnswer.RequestedRange(first: 50, resource: Self.known, completed: 50)
        let answer = RangeAnswer(head, to: question, by: request)
        #expect(answer == (isSame ? .part(50..<100, of: Self.known) : .changed))
        // RFC 9110 §15.5.17: the end of one resource is not that of the other.
        let end = HTTPResponse(status: 416, headers: ["Content-Range": "bytes */100"])
        let whole = RangeAnswer.RequestedRange(first: 100, resource: Self.known, completed: 100)
        #expect(RangeAnswer(end, to: whole, by: request) == (isSame ? .complete : .changed))
    }

    @Test func dateOfModificationCountsOnlyForOnePathOfAServer() {
        let date = ResourceValidator.lastModified("Mon, 23 Nov 2026 10:00:00 GMT")
        let known = Self.resource(date, 100)
        for (url, isSame) in [("/f.bin", true), ("/v2/f.bin", false)] {
            let request = HTTPRequest(method: .get, scheme: "http", authority: "h", path: url)
            #expect(known.mayBeTarget(of: request) == isSame)
        }
        let mirror = HTTPRequest(method: .get, scheme: "http", authority: "mirror", path: "/pub/f.bin")
        #expect(known.mayBeTarget(of: mirror))
    }

    @Test(arguments: ["//f.bin", "//folder/f.bin", "/f.bin?x=//a/b"])
    func requestIsForItsOwnResource(path: String) {
        let request = HTTPRequest(method: .get, scheme: "http", authority: "h", path: path)
        for validator in ["\"1\"", "Fri, 27 Nov 2026 10:00:00 GMT"] {
            let name: HTTPHeaderName = validator.hasPrefix("\"") ? .eTag : .lastModified
            let head = HTTPResponse(status: .ok, headers: HTTPHeaders([(name, validator)]))
            #expect(RemoteResource(head, by: request).mayBeTarget(of: request))
        }
    }

    @Test func signatureOfAURLIsNotKept() {
        let request = HTTPRequest(method: .get, scheme: "http", authority: "h", path: "/f.bin?signature=1")
        #expect(RemoteResource(HTTPResponse(status: .ok), by: request).url == "http://h/f.bin")
    }

    /// The representations for two users can have the same date. Entity tags differ (RFC 9110 §8.8.3.3).
    @Test(
        arguments: [
            ("authorization", "b", ""), ("cookie", "b", ""), ("x-api-key", "b", ""),
            ("accept", "b", "Accept-Language, Accept"), ("x", "a", "*"),
        ] as [(HTTPHeaderName, String, String)]
    )
    func dateOfAnotherRepresentationIsNotResumed(_ field: HTTPHeaderName, _ other: String, _ vary: String) {
        func owner(_ request: HTTPRequest) -> RequestOwner {
            RequestOwner(digest: CacheIdentity(request, secretHeaders: ["X-API-Key"], partition: "").digest)
        }
        for (name, validator) in [(HTTPHeaderName.eTag, "\"1\""), (.lastModified, "Mon, 23 Nov 2026 10:00:00 GMT")] {
            var headers: HTTPHeaders = ["Content-Length": "100", "Date": "Mon, 23 Nov 2026 12:00:00 GMT"]
            headers[name] = validator
            if !vary.isEmpty { headers[.vary] = vary }
            var first = Self.request
            first.headers[field] = "a"
            var second = Self.request
            second.headers[field] = other
            second.headers[.range] = "bytes=50-"
            let resource = RemoteResource(HTTPResponse(status: .ok, headers: headers), by: first, owner: owner(first))
            headers["Content-Range"] = "bytes 50-99/100"
            let part = HTTPResponse(status: .partialContent, headers: headers)
            for hasReceived in [false, true] {
                let requested = RangeAnswer.RequestedRange(
                    first: 50,
                    resource: resource,
                    completed: 50,
                    hasReceived: hasReceived
                )
                let answer = RangeAnswer(part, to: requested, by: second, owner: owner(second))
                #expect(answer.hasBytes == (name == .eTag || hasReceived))
                let unmatched = HTTPResponse(status: 416, headers: ["Content-Range": "bytes */50"])
                var whole = requested
                whole.resource?.length = 50
                let isComplete = RangeAnswer(unmatched, to: whole, by: second, owner: owner(second)) == .complete
                #expect(isComplete == (name == .eTag || hasReceived))
                if vary != "*" { #expect(RangeAnswer(part, to: requested, by: first, owner: owner(first)).hasBytes) }
            }
        }
    }

    /// Credentials may be renewed within a send. A jar whose cookies were removed belongs to another user.
    @Test(arguments: [false, true]) func dateOfAnotherJarIsNotResumed(hasReceived: Bool) {
        var headers: HTTPHeaders = ["Content-Length": "100", "Date": "Mon, 23 Nov 2026 12:00:00 GMT"]
        headers[.lastModified] = "Mon, 23 Nov 2026 10:00:00 GMT"
        let whole = HTTPResponse(status: .ok, headers: headers)
        headers["Content-Range"] = "bytes 50-99/100"
        let part = HTTPResponse(status: .partialContent, headers: headers)
        var resource = RemoteResource(whole, by: Self.request, owner: RequestOwner(jar: "1"))
        func answer(jar: String) -> RangeAnswer {
            let requested = RangeAnswer.RequestedRange(
                first: 50,
                resource: resource,
                completed: 50,
                hasReceived: hasReceived
            )
            return RangeAnswer(part, to: requested, by: Self.request, owner: RequestOwner(jar: jar))
        }
        #expect(answer(jar: "1").hasBytes)
        #expect(answer(jar: "2") == .changed)
        // The journal of an earlier version has no selection.
        resource.selection = nil
        #expect(answer(jar: "1").hasBytes == hasReceived)
    }

    @Test func partitionSelectsAnotherPartialFile() {
        let keys = ["", "a", "b"].map { DownloadKey(of: Self.request, ConnectionOptions(), partition: $0).text }
        #expect(Set(keys).count == 3)
    }

    @Test func hostAndServerSelectAnotherPartialFile() {
        var requests = [Self.request, Self.request, Self.request]
        requests[1].headers["Host"] = "a"
        requests[2].headers["Host"] = "b"
        var options = [ConnectionOptions(), ConnectionOptions(), ConnectionOptions()]
        options[1].unixSocket = "/run/a.sock"
        options[2].hostAddresses["h"] = [IPAddress(192, 0, 2, 1)]
        let keys = requests.flatMap { request in options.map { DownloadKey(of: request, $0, partition: "").text } }
        #expect(Set(keys).count == 9)
    }
}
