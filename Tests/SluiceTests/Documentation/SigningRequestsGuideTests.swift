import Foundation
import Sluice
import SluiceTesting
import Synchronization
import XCTest

#if canImport(CryptoKit)
import CryptoKit
#endif

extension RequestBody {
    static func jsonAPI(_ value: some Encodable & Sendable) -> RequestBody {
        RequestBody(contentType: "application/vnd.api+json") { .json(value, root: "data", encoder: $0.encoder) }
    }

    static func csv(_ rows: AsyncStream<[String]>) -> RequestBody {
        .stream(rows.map { Data(($0.joined(separator: ",") + "\r\n").utf8) }, contentType: "text/csv")
    }
}

extension HTTPRequest {
    /// Returns the SHA-256 of the body, which can be sent afterwards.
    mutating func bodyDigest() async throws -> Data {
        if !body.isReplayable { body = .data(try await body.collect(upTo: 16 << 20)) }
        var hash = SHA256()
        for try await chunk in body { hash.update(data: chunk) }
        return Data(hash.finalize())
    }
}

extension Sequence<UInt8> {
    var hexadecimal: String { map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined() }
}

struct ContentDigest: RequestInterceptor {
    func intercept(_ request: HTTPRequest, context: RequestContext) async throws -> HTTPRequest {
        guard !request.body.isNone else { return request }
        var request = request
        let digest = try await request.bodyDigest()
        request.headers["Content-Digest"] = "sha-256=:\(digest.base64EncodedString()):"
        return request
    }
}

struct SignedBody: RequestInterceptor {
    let key: Secret

    func intercept(_ request: HTTPRequest, context: RequestContext) async throws -> HTTPRequest {
        var request = request
        let bytes = try await request.body.collect(upTo: 1 << 20)
        if !request.body.isReplayable { request.body = .data(bytes) }
        let key = SymmetricKey(data: Data(key.reveal().utf8))
        let code = HMAC<SHA256>.authenticationCode(for: bytes, using: key)
        request.headers["X-Hub-Signature-256"] = "sha256=\(code.hexadecimal)"
        return request
    }
}

struct AWSSignature: RequestInterceptor {
    var accessKey: String
    var secretKey: Secret
    var sessionToken: Secret?
    var region: String
    var service: String
    var now: @Sendable () -> Date = { Date() }

    func intercept(_ request: HTTPRequest, context: RequestContext) async throws -> HTTPRequest {
        var request = request
        let payload = try await request.bodyDigest().hexadecimal
        let time = now().formatted(.iso8601.dateSeparator(.omitted).timeSeparator(.omitted))
        request.headers["X-Amz-Date"] = time
        if let sessionToken { request.headers["X-Amz-Security-Token"] = sessionToken.reveal() }
        if service == "s3" { request.headers["X-Amz-Content-SHA256"] = payload }

        let headers = signedHeaders(of: request)
        let names = headers.map(\.name).joined(separator: ";")
        let (path, query) = canonicalTarget(of: request)
        let lines = headers.map { "\($0.name):\($0.value)" }
        let canonical = ([request.method.rawValue, path, query] + lines + ["", names, payload]).joined(separator: "\n")

        let scope = "\(time.prefix(8))/\(region)/\(service)/aws4_request"
        let digest = SHA256.hash(data: Data(canonical.utf8)).hexadecimal
        let key = scope.split(separator: "/").reduce(Data("AWS4\(secretKey.reveal())".utf8)) { code(of: $1, key: $0) }
        let signature = code(of: "AWS4-HMAC-SHA256\n\(time)\n\(scope)\n\(digest)", key: key).hexadecimal
        request.headers["Authorization"] =
            "AWS4-HMAC-SHA256 Credential=\(accessKey)/\(scope), SignedHeaders=\(names), Signature=\(signature)"
        return request
    }

    private func code(of text: some StringProtocol, key: Data) -> Data {
        Data(HMAC<SHA256>.authenticationCode(for: Data(text.utf8), using: SymmetricKey(data: key)))
    }

    /// The headers in order of their names, with repeated ones joined and with single spaces.
    private func signedHeaders(of request: HTTPRequest) -> [(name: String, value: String)] {
        let unsigned: Set = ["authorization", "connection", "expect", "traceparent", "tracestate", "user-agent"]
        var values = ["host": [request.authority]]
        for field in request.headers {
            let words = field.value.split(separator: " ").joined(separator: " ")
            values[field.name.rawValue.lowercased(), default: []].append(words)
        }
        return values.filter { !unsigned.contains($0.key) }.sorted { $0.key < $1.key }
            .map { (name: $0.key, value: $0.value.joined(separator: ",")) }
    }

    /// Path and query with all but unreserved characters encoded. The path is encoded twice, except for S3.
    private func canonicalTarget(of request: HTTPRequest) -> (path: String, query: String) {
        let parts = request.path.split(separator: "?", maxSplits: 1)
        let path = parts.first.map(String.init) ?? "/"
        let items = (parts.count > 1 ? parts[1] : "").split(separator: "&").map { item in
            let pair = item.split(separator: "=", maxSplits: 1).map { encoded($0.removingPercentEncoding ?? "") }
            return (name: pair.first ?? "", value: pair.count > 1 ? pair[1] : "")
        }
        let sorted = items.sorted { ($0.name, $0.value) < ($1.name, $1.value) }
        let query = sorted.map { "\($0.name)=\($0.value)" }.joined(separator: "&")
        return (service == "s3" ? path : encoded(path, keeping: "/"), query)
    }

    private func encoded(_ text: String, keeping kept: String = "") -> String {
        let letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
        let allowed = CharacterSet(charactersIn: letters + "0123456789-._~" + kept)
        return text.addingPercentEncoding(withAllowedCharacters: allowed) ?? text
    }
}

struct Encryption: RequestAdapter {
    let seal: @Sendable (Data) throws -> Data

    func adapt(_ request: inout HTTPRequest, context: RequestContext) {
        guard !request.body.isNone else { return }
        let seal = seal
        request.body = .stream(request.body.map { try seal($0) }, isReplayable: request.body.isReplayable)
        request.headers["Content-Type"] = "application/jose"
    }
}

struct Relay: Transport {
    let next: any Transport
    let log: @Sendable (String) -> Void

    func send(_ request: HTTPRequest, context: TransferContext) async throws(SluiceError) -> TransportResponse {
        let response = try await next.send(request, context: context)
        let (body, log) = (response.body, log)
        let chunks = body.map { chunk in
            log("\(chunk.count) bytes of \(request.redactedURL)")
            return chunk
        }
        let observed = ResponseBody(
            chunks,
            metrics: { body.metrics ?? TransferMetrics() },
            trailers: { body.trailers ?? [:] }
        )
        return TransportResponse(head: response.head, body: observed)
    }
}

/// The article on bodies, signatures and transports of your own, in the words of a user: without anything internal.
final class SigningRequestsGuideTests: XCTestCase {
    func testOwnTypesOfBodyAreSent() async throws {
        struct Person: Codable { var fullName: String }
        let server = try LoopbackServer()
        server.on("/*", .echo)
        let encoder = JSONEncoder()
        encoder.keyEncodingStrategy = .convertToSnakeCase
        let shop = APIClient(baseURL: server.url) { $0.encoder = encoder }
        let echo: LoopbackEcho = try await shop.post("users").body(.jsonAPI(Person(fullName: "Ada"))).sender().value
        XCTAssertEqual(echo.text, #"{"data":{"full_name":"Ada"}}"#)
        XCTAssertEqual(echo.values(for: .contentType), ["application/vnd.api+json"])
        let rows = AsyncStream<[String]> { continuation in
            for row in [["id", "name"], ["1", "Ada"]] { continuation.yield(row) }
            continuation.finish()
        }
        let table: LoopbackEcho = try await shop.upload("reports", .csv(rows)).sender().value
        XCTAssertEqual(table.text, "id,name\r\n1,Ada\r\n")
        XCTAssertEqual(table.values(for: .contentType), ["text/csv"])
        XCTAssertEqual(table.values(for: .transferEncoding), ["chunked"])
    }

    /// The vectors of RFC 9530, appendix B, and of GitHub's documentation of webhooks.
    func testBodiesAreSignedInHeaders() async throws {
        let server = try LoopbackServer()
        server.on("/*", .echo)
        let file = try TemporaryFile(Data("{\"hello\": \"world\"}\n".utf8))
        defer { file.remove() }
        let once = AsyncStream<Data> { continuation in
            for word in ["{\"hello\":", " \"world\"}\n"] { continuation.yield(Data(word.utf8)) }
            continuation.finish()
        }
        let shop = APIClient(baseURL: server.url) { $0.requestInterceptors = [ContentDigest()] }
        for body in [RequestBody.file(file.url), .stream(once)] {
            let echo: LoopbackEcho = try await shop.upload("x", body).sender().value
            XCTAssertEqual(echo.text, "{\"hello\": \"world\"}\n")
            let digest = "sha-256=:RK/0qy18MlBSVnWgjwz6lZEWjP/lF5HF9bvEF8FabDg=:"
            XCTAssertEqual(echo.values(for: "Content-Digest"), [digest])
        }
        let hooks = APIClient(baseURL: server.url) {
            $0.requestInterceptors = [SignedBody(key: "It's a Secret to Everybody")]
        }
        let echo: LoopbackEcho = try await hooks.upload("x", .data(Data("Hello, World!".utf8))).sender().value
        let code = "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17"
        XCTAssertEqual(echo.values(for: "X-Hub-Signature-256"), [code])
        XCTAssertEqual(echo.text, "Hello, World!")
    }

    /// A vector of Amazon's: the request, and the signature that it must have.
    private struct Vector {
        var method = HTTPMethod.get
        var target = "/"
        var headers: HTTPHeaders = [:]
        var body = RequestBody.none
        var token: Secret?
        let signature: String
    }

    /// Amazon's published vectors: those of aws-c-auth's signing test suite, and the examples of the S3 API reference.
    func testRequestsHaveTheSignaturesOfAmazonsVectors() async throws {
        let letters = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
        let form = Data("Param1=value1".utf8)
        let formDigest = "9095672bbd1f56dfc5b65f3e153adc8731a4a654192329106275f4c7b24d0b6e"
        let vectors = [
            Vector(signature: "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31"),
            Vector(
                target: "/?Param2=value2&Param1=value1",
                signature: "b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500"
            ),
            Vector(
                target: "/?%E1%88%B4=bar",
                signature: "2cdec8eed098649ff3a119c94853b13c643bcf08f8b0a1d91e12c9027818dd04"
            ),
            Vector(
                target: "/?Param-3=Value3&Param=Value2&%E1%88%B4=Value1",
                signature: "371d3713e185cc334048618a97f809c9ffe339c62934c032af5a0e595648fcac"
            ),
            Vector(
                target: "/-._~\(letters)",
                signature: "07ef7494c76fa4850883e2b006601f940f8a34d404d0cfa977f52a65bbf5f24f"
            ),
            Vector(
                headers: ["My-Header1": " value1", "My-Header2": " \"a   b   c\""],
                signature: "acc3ed3afb60bb290fc8d2dd0098b9911fcaa05412b367055dee359757a9c736"
            ),
            Vector(
                headers: [
                    "My-Header1": "value4", "My-Header1": "value1", "My-Header1": "value3", "My-Header1": "value2",
                ],
                signature: "08c7e5a9acfcfeb3ab6b2185e75ce8b1deb5e634ec47601a50643f830c755c01"
            ),
            Vector(
                token: "6e86291e8372ff2a2260956d9b8aae1d763fbf315fa00fa31553b73ebf194267",
                signature: "07ec1639c89043aa0e3e2de82b96708f198cceab042d4a97044c66dd9f74e7f8"
            ),
            Vector(
                method: .post,
                headers: [
                    "Content-Type": "application/x-www-form-urlencoded", "Content-Length": "13",
                    "X-Amz-Content-SHA256": formDigest,
                ],
                body: .data(form),
                signature: "d3875051da38690788ef43de4db0d8f280229d82040bfac253562e56c3f20e0b"
            ),
        ]
        for vector in vectors {
            let signer = AWSSignature(
                accessKey: "AKIDEXAMPLE",
                secretKey: "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY",
                sessionToken: vector.token,
                region: "us-east-1",
                service: "service",
                now: { Date(timeIntervalSince1970: 1_440_938_160) }
            )
            try await expect(vector, "example.amazonaws.com", by: signer)
        }
        let storage = AWSSignature(
            accessKey: "AKIAIOSFODNN7EXAMPLE",
            secretKey: "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
            region: "us-east-1",
            service: "s3",
            now: { Date(timeIntervalSince1970: 1_369_353_600) }
        )
        let object = AsyncStream<Data> { continuation in
            continuation.yield(Data("Welcome to ".utf8))
            continuation.yield(Data("Amazon S3.".utf8))
            continuation.finish()
        }
        let objects = [
            Vector(
                target: "/test.txt",
                headers: ["Range": "bytes=0-9"],
                signature: "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41"
            ),
            Vector(
                method: .put,
                target: "/test%24file.text",
                headers: ["Date": "Fri, 24 May 2013 00:00:00 GMT", "X-Amz-Storage-Class": "REDUCED_REDUNDANCY"],
                body: .stream(object),
                signature: "98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd"
            ),
        ]
        for vector in objects { try await expect(vector, "examplebucket.s3.amazonaws.com", by: storage) }
    }

    private func expect(_ vector: Vector, _ host: String, by signer: AWSSignature) async throws {
        let request = HTTPRequest(
            method: vector.method,
            scheme: "https",
            authority: host,
            path: vector.target,
            headers: vector.headers,
            body: vector.body
        )
        let signed = try await signer.intercept(request, context: RequestContext(request: request))
        let authorization = try XCTUnwrap(signed.headers["Authorization"])
        XCTAssertEqual(authorization.components(separatedBy: "Signature=").last, vector.signature, vector.target)
    }

    func testFileIsSignedAndSent() async throws {
        let server = try LoopbackServer()
        server.on(.put, "/reports/2026.csv") { .text($0.headers["X-Amz-Content-SHA256"] ?? "") }
        let file = try TemporaryFile(Data("Welcome to Amazon S3.".utf8))
        defer { file.remove() }
        let report = file.url
        let secretKey: Secret = "s3cret"
        let storage = APIClient(baseURL: server.url) {
            $0.secretHeaders = ["X-Amz-Security-Token"]
            $0.requestInterceptors = [
                AWSSignature(accessKey: "AKIDEXAMPLE", secretKey: secretKey, region: "eu-central-1", service: "s3")
            ]
        }
        let stored = try await storage.data.upload("reports/2026.csv", .file(report)).put().sender().value
        XCTAssertEqual(stored.count, 64)
        let request = try XCTUnwrap(server.requests.first)
        XCTAssertEqual(String(decoding: request.body, as: UTF8.self), "Welcome to Amazon S3.")
        XCTAssertEqual(request.headers[.contentLength], "21")
        let digest = "44ce7dd67c959e0d3524ffac1771dfbba87d2b6b4b4e99e42034a8b803f8b072"
        XCTAssertEqual(request.headers["X-Amz-Content-SHA256"], digest)
    }

    func testBodyIsReplacedWhileItIsSent() async throws {
        let server = try LoopbackServer()
        server.on("/*", .echo)
        let shop = APIClient(baseURL: server.url) {
            $0.requestInterceptors = [Encryption { Data($0.map { $0 ^ 0x20 }) }]
        }
        let echo: LoopbackEcho = try await shop.post("x").data(Data("secret".utf8)).sender().value
        XCTAssertEqual(echo.text, "SECRET")
        XCTAssertEqual(echo.values(for: .contentType), ["application/jose"])
    }

    func testTransportOfOnesOwnStreamsBothWays() async throws {
        let server = try LoopbackServer()
        server.on("/*", .echo)
        let lines = Lines()
        let observed = APIClient(baseURL: server.url) {
            $0.transport = Relay(next: $0.transport) { line in lines.append(line) }
        }
        let echo: LoopbackEcho = try await observed.post("x").data(Data("hello".utf8)).sender().value
        XCTAssertEqual(echo.text, "hello")
        XCTAssertEqual(lines.all.isEmpty, false)
    }

    private final class Lines: Sendable {
        private let texts = Mutex<[String]>([])
        var all: [String] { texts.withLock { $0 } }
        func append(_ text: String) { texts.withLock { $0.append(text) } }
    }
}
