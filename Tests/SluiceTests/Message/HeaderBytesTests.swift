import Foundation
import SluiceHTTP
import SluiceTesting
import Testing

@testable import Sluice
@testable import SluiceCache

/// Header fields that are not UTF-8, in all code that parses, compares, stores and forwards them.
@Suite struct HeaderBytesTests {
    private let server: LoopbackServer

    init() throws {
        server = try LoopbackServer()
    }

    private static func value(_ text: String, _ byte: UInt8, _ end: String = "") -> FieldValue {
        var bytes = Array(text.utf8)
        bytes.append(byte)
        bytes.append(contentsOf: end.utf8)
        return FieldValue(bytes: bytes)
    }

    private static func tag(_ byte: UInt8, isWeak: Bool = false) -> FieldValue {
        value(isWeak ? "W/\"a" : "\"a", byte, "\"")
    }

    private static func headers(_ name: HTTPHeaderName, _ value: FieldValue, _ others: HTTPHeaders = [:]) -> HTTPHeaders
    {
        var headers = others
        headers.append(name, value: value)
        return headers
    }

    private func client(_ configure: (inout APIClient.Configuration) -> Void = { _ in }) -> APIClient {
        APIClient(baseURL: server.url, configure: configure)
    }

    private func sent(_ name: HTTPHeaderName) -> [FieldValue] {
        server.requests.last?.headers.fieldValues(for: name) ?? []
    }

    // MARK: Redirects and links

    private static let locations: [(FieldValue, String)] = [
        (value("/caf", 0xE9), "/caf%E9"), ("/café", "/caf%C3%A9"), (value("/é?q=", 0xFF), "/%C3%A9?q=%FF"),
    ]

    @Test(arguments: locations)
    func redirectKeepsBytesOfLocation(_ location: FieldValue, _ target: String) async throws {
        server.on("/old", .status(.found, headers: Self.headers(.location, location)))
        server.on("*", .text("ok"))
        _ = try await client().string.get("old").sender().value
        #expect(server.requests.last?.target == target)
    }

    @Test func linkKeepsBytesOfTarget() {
        let line = Self.value("</p?c=", 0xE9, ">; rel=\"next\", </é>; rel=last")
        let links = HTTPResponse(status: .ok, headers: Self.headers("Link", line)).links
        #expect(links["next"]?.target == "/p?c=%E9")
        #expect(links["last"]?.target == "/é")
    }

    // MARK: Cache

    @Test(arguments: [false, true])
    func conditionalRequestSendsBytesOfTag(isWeak: Bool) async throws {
        let tag = Self.tag(0xE9, isWeak: isWeak)
        let client = client { $0.cache = CacheStore(storage: nil) }
        server.on("/page", .text("a", headers: Self.headers(.eTag, tag, ["Cache-Control": "no-cache"])))
        _ = try await client.string.get("page").sender().value
        server.on("/page", .status(.notModified, headers: Self.headers(.eTag, tag)))
        let response = await client.string.get("page").sender().response
        #expect(sent("If-None-Match") == [tag])
        #expect(try response.result.get() == "a")
        #expect(response.head?.headers.fieldValues(for: .eTag) == [tag])
        #expect(server.requestCount == 2)
    }

    @Test func ignores304WithTagOfOtherBytes() async throws {
        let client = client { $0.cache = CacheStore(storage: nil) }
        server.on("/page", .text("a", headers: Self.headers(.eTag, Self.tag(0xE9), ["Cache-Control": "no-cache"])))
        _ = try await client.string.get("page").sender().value
        server.on(
            "/page",
            .status(.notModified, headers: Self.headers(.eTag, Self.tag(0xE8))),
            .text("b", headers: Self.headers(.eTag, Self.tag(0xE8)))
        )
        #expect(try await client.string.get("page").sender().value == "b")
        #expect(server.requestCount == 3)
    }

    private static let conditions: [(String, UInt8, Int)] = [
        ("If-None-Match", 0xE9, 304), ("If-None-Match", 0xE8, 200), ("If-Range", 0xE9, 206), ("If-Range", 0xE8, 200),
    ]

    @Test(arguments: conditions)
    func comparesConditionOfRequestByteByByte(_ name: String, _ byte: UInt8, _ status: Int) async throws {
        let client = client { $0.cache = CacheStore(storage: nil) }
        let fields = Self.headers(.eTag, Self.tag(0xE9), ["Cache-Control": "max-age=60"])
        server.on("/page", .text("abc", headers: fields))
        _ = try await client.string.get("page").sender().value
        var own = Self.headers(HTTPHeaderName(name), Self.tag(byte))
        if name == "If-Range" { own.append("Range", "bytes=0-1") }
        let response = await client.data.get("page").headers(own).validate(.none).sender().response
        #expect(response.status?.rawValue == status)
        #expect(server.requestCount == 1)
    }

    @Test func variesResponsesByBytesOfField() async throws {
        let client = client { $0.cache = CacheStore(storage: nil) }
        server.on("/page") { request in
            let byte = request.headers.fieldValues(for: "X-Name").first?.bytes.last ?? 0
            return .text("\(byte)", headers: ["Cache-Control": "max-age=60", "Vary": "X-Name"])
        }
        for byte in [0xE9, 0xE8, 0xE9] as [UInt8] {
            let own = Self.headers("X-Name", Self.value("caf", byte))
            #expect(try await client.string.get("page").headers(own).sender().value == "\(byte)")
        }
        #expect(server.requestCount == 2)
    }

    @Test func separatesResponsesByBytesOfCredentials() async throws {
        let client = client { $0.cache = CacheStore(storage: nil) }
        server.on("/page") { request in
            let byte = request.headers.fieldValues(for: .authorization).first?.bytes.last ?? 0
            return .text("\(byte)", headers: ["Cache-Control": "private, max-age=60"])
        }
        for byte in [0xE9, 0xE8] as [UInt8] {
            let own = Self.headers(.authorization, Self.value("Custom caf", byte))
            #expect(try await client.string.get("page").headers(own).sender().value == "\(byte)")
        }
    }

    @Test func sharesTransfersOnlyForEqualBytes() throws {
        let sharing = RequestSharing.safeMethods
        let (one, other) = (Self.headers("X-Name", Self.value("", 0xE9)), Self.headers("X-Name", Self.value("", 0xE8)))
        #expect(sharing.significant(of: one, secrets: []) == one)
        #expect(sharing.significant(of: one, secrets: []) != sharing.significant(of: other, secrets: []))
        let only = RequestSharing.safeMethods.comparing(only: "X-Name")
        #expect(only.significant(of: one, secrets: []) == one)
    }

    @Test func diskCacheKeepsBytes() async throws {
        let folder = try DownloadFolder()
        let tag = Self.tag(0xE9)
        let fields = Self.headers(.eTag, tag, ["Cache-Control": "max-age=60"])
        server.on("/page", .text("a", headers: fields))
        let first = CacheStore(directory: folder.url) { $0.memory.count = 0 }
        _ = try await client { $0.cache = first }.string.get("page").sender().value
        await first.flush()
        let second = CacheStore(directory: folder.url)
        let response = await client { $0.cache = second }.string.get("page").sender().response
        #expect(response.source != .server)
        #expect(response.head?.headers.fieldValues(for: .eTag) == [tag])
        #expect(server.requestCount == 1)
    }

    @Test func updatedHeadKeepsBytesOfNewFields() {
        let stored = HTTPResponse(status: .ok, headers: ["X-Name": "old", "Date": "Sun, 06 Nov 1994 08:49:37 GMT"])
        let newer = HTTPResponse(status: .notModified, headers: Self.headers("X-Name", Self.value("caf", 0xE9)))
        let updated = StoredHead.updated(stored, with: newer, received: Date())
        #expect(updated.headers.fieldValues(for: "X-Name") == [Self.value("caf", 0xE9)])
    }

    @Test func unsafeRequestInvalidatesURLOfLocation() throws {
        let request = HTTPRequest(method: .post, scheme: "http", authority: "a", path: "/")
        let head = HTTPResponse(status: .created, headers: Self.headers(.location, Self.value("/caf", 0xE9)))
        let names = CacheRules.invalidations(after: head, to: request)
        #expect(names.last?.hasSuffix("/caf%E9") == true, "\(names)")
    }

    // MARK: Downloads

    @Test func resumesDownloadWithBytesOfTag() async throws {
        let folder = try DownloadFolder()
        let tag = Self.tag(0xE9)
        let contents = Data((0..<100_000).map { UInt8(truncatingIfNeeded: $0) })
        server.on(
            "/file",
            .data(contents, headers: Self.headers(.eTag, tag)).interrupted(after: 40_000),
            .status(.notFound),
            .data(
                contents.dropFirst(40_000),
                status: .partialContent,
                headers: Self.headers(.eTag, tag, ["Content-Range": "bytes 40000-99999/100000"])
            )
        )
        let file = folder.url.appending(path: "file")
        // The second download reads the tag from the journal of the first.
        _ = await client().download("file", to: .file(file)).sender().response
        let response = await client().download("file", to: .file(file)).sender().response
        #expect(response.file?.resumedBytes == 40_000)
        #expect(sent("If-Range") == [tag])
        #expect(try Data(contentsOf: file) == contents)
    }

    @Test func validatorsDifferByOneByte() {
        let head = { (byte: UInt8) in HTTPResponse(status: .ok, headers: Self.headers(.eTag, Self.tag(byte))) }
        let validator = ResourceValidator(of: head(0xE9))
        #expect(validator?.matches(head(0xE9)) == true)
        #expect(validator?.matches(head(0xE8)) == false)
        #expect(validator != ResourceValidator(of: head(0xE8)))
    }

    // MARK: Cassettes

    @Test func cassetteReplaysBytes() async throws {
        let folder = try DownloadFolder()
        let file = folder.url.appending(path: "cassette.json")
        let fields = Self.headers(.eTag, Self.tag(0xE9), ["X-Plain": "é"])
        let network = StubTransport()
        network.on(.any, .text("a", headers: fields))
        let request = HTTPRequest(
            scheme: "http",
            authority: "a",
            path: "/",
            headers: Self.headers("X-Name", Self.value("", 0xE8))
        )
        for _ in 1...2 {
            let cassette = CassetteTransport(recording: network, to: file, matching: [.url, .header("X-Name")])
            let response = try await cassette.send(request, context: TransferContext())
            #expect(response.head.headers.fieldValues(for: .eTag) == [Self.tag(0xE9)])
            #expect(response.head.headers["X-Plain"] == "é")
        }
        #expect(network.requests.count == 1)
    }
}
