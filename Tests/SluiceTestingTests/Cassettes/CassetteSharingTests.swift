import Foundation
import Sluice
import SluiceHTTP
import Testing

@testable import SluiceTesting

/// Recordings of several transports and processes to one file. A `CassetteRecording` that no transport shares stands for another
/// process.
@Suite struct CassetteSharingTests {
    private let folder = FileManager.default.temporaryDirectory.appending(path: "sluice-\(UUID().uuidString)")
    private var file: URL { folder.appending(path: "cassette.json") }
    private var bodies: URL { folder.appending(path: "cassette.json.bodies") }
    private let network = StubTransport()

    private func tearDown() { try? FileManager.default.removeItem(at: folder) }

    private func cassette(_ mode: CassetteTransport.Mode = .once) -> CassetteTransport {
        CassetteTransport(recording: network, to: file, mode: mode)
    }

    /// Begins a recording of another process.
    private func process(_ mode: CassetteTransport.Mode) async throws -> CassetteRecording {
        let recording = CassetteRecording(file, .standard)
        let start = try await recording.begin(mode, created: ContinuousClock.now)
        #expect(start.records)
        return recording
    }

    private func send(_ transport: some Transport, _ path: String) async throws -> Data {
        let request = HTTPRequest(scheme: "http", authority: "shop.test", path: path)
        return try await transport.send(request, context: TransferContext()).body.collect()
    }

    private func exchange(_ path: String, _ body: BodyDigest? = nil) -> RecordedExchange {
        var response = RecordedExchange.Response(head: HTTPResponse(status: .ok))
        response.digest = body
        return RecordedExchange(request: RecordedRequest(url: "http://shop.test\(path)"), result: .success(response))
    }

    private func write(_ exchanges: [RecordedExchange]) throws {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try Cassette(exchanges: exchanges).data.write(to: file, options: .atomic)
    }

    private func paths() throws -> [String] {
        try Cassette(Data(contentsOf: file)).exchanges.map(\.request.path)
    }

    private func names(in folder: URL) -> [String] {
        ((try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []).sorted()
    }

    private func mode(of file: URL) throws -> Int? {
        try FileManager.default.attributesOfItem(atPath: file.path)[.posixPermissions] as? Int
    }

    // MARK: Processes

    @Test(arguments: [CassetteTransport.Mode.once, .always, .append])
    func processesKeepTheExchangesOfEachOther(_ mode: CassetteTransport.Mode) async throws {
        defer { tearDown() }
        if mode != .once { try write([exchange("/old")]) }
        let one = try await process(mode)
        let other = try await process(mode)
        for path in ["/1", "/2"] {
            try await one.append(exchange(path))
            try await other.append(exchange(path + "/other"))
        }
        let kept = mode == .append ? ["/old"] : []
        #expect(try paths() == kept + ["/1", "/1/other", "/2", "/2/other"])
        #expect(names(in: folder) == ["cassette.json"], "The lock leaves no file.")
    }

    @Test func concurrentProcessesLoseNothing() async throws {
        defer { tearDown() }
        let processes = [try await process(.once), try await process(.always), try await process(.append)]
        try await withThrowingTaskGroup(of: Void.self) { group in
            for (place, process) in processes.enumerated() {
                group.addTask {
                    for number in 0..<20 { try await process.append(exchange("/\(place)/\(number)")) }
                }
            }
            try await group.waitForAll()
        }
        let paths = try paths()
        #expect(paths.count == 60)
        for place in 0..<3 {
            #expect(paths.filter { $0.hasPrefix("/\(place)/") } == (0..<20).map { "/\(place)/\($0)" })
        }
    }

    @Test func exchangeWrittenBetweenTwoRequestsStays() async throws {
        defer { tearDown() }
        network.on(.any, .text("x"))
        let recording = cassette()
        _ = try await send(recording, "/1")
        try write(Cassette(Data(contentsOf: file)).exchanges + [exchange("/other")])
        _ = try await send(recording, "/2")
        #expect(try paths() == ["/1", "/other", "/2"])
        try Data("damaged".utf8).write(to: file)
        try await expectError(.cassetteUnreadable) { try await send(recording, "/3") }
        #expect(try Data(contentsOf: file) == Data("damaged".utf8))
    }

    @Test func bodyFilesOfAnotherProcessStay() async throws {
        defer { tearDown() }
        let body = Data(count: 2 << 20)
        network.on(.any, .data(body, contentType: "video/mp4"))
        let other = try await process(.always)
        let recording = cassette(.always)
        _ = try await send(recording, "/1")
        let content = Data("other".utf8)
        let digest = try #require(BodyDigest(of: content))
        let temporary = try await BodyFile.create(in: bodies)
        try await temporary.append(content)
        let location = CassetteBodies(of: file, .standard).url(of: digest)
        try await other.append(exchange("/other", digest), (file: temporary, url: location))
        _ = try await send(recording, "/2")
        #expect(try paths() == ["/1", "/other", "/2"])
        #expect(names(in: bodies).count == 2)
        let playing = CassetteTransport(replaying: file)
        #expect(try await send(playing, "/1") == body)
        #expect(try await send(playing, "/other") == content)
    }

    // MARK: Transports of one process

    @Test func transportsThatAreOlderThanTheFileRecordToIt() async throws {
        defer { tearDown() }
        network.on(.any, .text("x"))
        let transports = [cassette(), cassette()]
        for (transport, path) in zip(transports, ["/1", "/2"]) { _ = try await send(transport, path) }
        #expect(try paths() == ["/1", "/2"])
        let later = cassette()
        _ = try await send(later, "/2")
        try await expectError(.cassetteUnmatched) { try await send(later, "/3") }
        withExtendedLifetime(transports) {}
        #expect(network.requests.count == 2)
    }

    // MARK: Body files

    @Test func bodyIsPrivateUntilItHasBeenSearched() async throws {
        defer { tearDown() }
        let (stream, continuation) = AsyncThrowingStream<Data, any Error>.makeStream()
        let network = StreamingNetwork(stream)
        let recording = CassetteTransport(recording: network, to: file)
        let answer = Task { try await send(recording, "/") }
        continuation.yield(Data(count: 2 << 20))
        try await waitUntil("the file exists") { names(in: bodies).count == 1 }
        let temporary = bodies.appending(path: try #require(names(in: bodies).first))
        #expect(try mode(of: temporary) == 0o600)
        continuation.finish()
        #expect(try await answer.value.count == 2 << 20)
        let name = try #require(names(in: bodies).first)
        #expect(names(in: bodies).count == 1 && name.utf8.count == 64)
        let usual = folder.appending(path: "usual")
        try Data().write(to: usual)
        #expect(try mode(of: bodies.appending(path: name)) == mode(of: usual))
    }

    @Test func filesOfInterruptedRecordingsAreRemovedAfterADay() async throws {
        defer { tearDown() }
        try FileManager.default.createDirectory(at: bodies, withIntermediateDirectories: true)
        let fresh = ".\(UUID().uuidString)"
        let foreign = ".notes"
        for name in [".\(UUID().uuidString)", fresh, foreign] {
            let path = bodies.appending(path: name)
            try Data("secret".utf8).write(to: path)
            guard name != fresh else { continue }
            let date = Date(timeIntervalSinceNow: -2 * 86_400)
            try FileManager.default.setAttributes([.modificationDate: date], ofItemAtPath: path.path)
        }
        network.on(.any, .text("x"))
        _ = try await send(cassette(.always), "/")
        #expect(names(in: bodies) == [fresh, foreign].sorted())
    }
}

/// A network that answers with a stream of binary data.
private struct StreamingNetwork: Transport {
    private let stream: AsyncThrowingStream<Data, any Error>

    init(_ stream: AsyncThrowingStream<Data, any Error>) {
        self.stream = stream
    }

    func send(_ request: HTTPRequest, context: TransferContext) async throws(SluiceError) -> TransportResponse {
        TransportResponse(
            head: HTTPResponse(status: .ok, headers: [.contentType: "video/mp4"]),
            body: ResponseBody(stream)
        )
    }
}
