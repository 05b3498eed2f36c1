import Foundation
import Sluice
import SluiceHTTP
import Testing

@testable import SluiceTesting

/// Streamed bodies and multipart forms of any length, of which a cassette holds little in memory.
@Suite struct CassetteBodyTests {
    private static let pieceSize = 256 << 10

    /// A network that reads the body of a request piece by piece and answers with its digest.
    private final class DigestingNetwork: Transport {
        private let answer: @Sendable () -> TransportResponse?
        let requests = Locked<[BodyDigest]>([])

        init(answer: @escaping @Sendable () -> TransportResponse? = { nil }) {
            self.answer = answer
        }

        func send(_ request: HTTPRequest, context: TransferContext) async throws(SluiceError) -> TransportResponse {
            let hash = SHA256Stream()
            var length: Int64 = 0
            var iterator = request.body.makeAsyncIterator()
            while let piece = try await iterator.next(isolation: nil) {
                length += Int64(piece.count)
                hash.append(piece)
            }
            guard let digest = BodyDigest(length: length, sha256: hash.hexDigest ?? "") else { throw .cancelled }
            requests.withLock { $0.append(digest) }
            let text = Data("\(length) \(digest.sha256)".utf8)
            return answer() ?? TransportResponse(head: HTTPResponse(status: .ok), body: ResponseBody(text))
        }
    }

    /// Creates pieces and counts the bytes of those that are in memory.
    private final class LivePieces: Sendable {
        private let state = Locked((live: 0, peak: 0))

        var peak: Int { state.withLock { $0.peak } }

        func piece(filledWith byte: UInt8) -> Data {
            let count = CassetteBodyTests.pieceSize
            let bytes = UnsafeMutableRawPointer.allocate(byteCount: count, alignment: 16)
            bytes.initializeMemory(as: UInt8.self, repeating: byte, count: count)
            state.withLock { state in
                state.live += count
                state.peak = max(state.peak, state.live)
            }
            let release: @Sendable (UnsafeMutableRawPointer, Int) -> Void = { [state] bytes, _ in
                bytes.deallocate()
                state.withLock { $0.live -= count }
            }
            return Data(bytesNoCopy: bytes, count: count, deallocator: .custom(release))
        }

        /// A stream of pieces that are made on demand.
        func stream(_ count: Int, last: UInt8 = 1) -> AsyncStream<Data> {
            let number = Locked(0)
            return AsyncStream { [self] in
                let next = number.withLock { number in
                    number += 1
                    return number
                }
                return next > count ? nil : piece(filledWith: next == count ? last : 0)
            }
        }
    }

    private let folder = FileManager.default.temporaryDirectory.appending(path: "sluice-\(UUID().uuidString)")
    private var file: URL { folder.appending(path: "cassette.json") }

    private func tearDown() { try? FileManager.default.removeItem(at: folder) }

    private func send(
        _ transport: some Transport,
        _ body: RequestBody = .none,
        headers: HTTPHeaders = [:],
        limits: ResponseLimits = ResponseLimits()
    ) async throws -> TransportResponse {
        let request = HTTPRequest(
            method: body.isNone ? .get : .post,
            scheme: "http",
            authority: "shop.test",
            path: "/files",
            headers: headers,
            body: body
        )
        return try await transport.send(request, context: TransferContext(limits: limits))
    }

    private func text(_ transport: some Transport, _ body: RequestBody) async throws -> String {
        String(decoding: try await send(transport, body).body.collect(), as: UTF8.self)
    }

    private func names(in folder: URL) -> [String] {
        ((try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []).sorted()
    }

    // MARK: Requests

    @Test func streamedBodyIsRecordedAndPlayedWithLittleMemory() async throws {
        defer { tearDown() }
        let network = DigestingNetwork()
        let pieces = LivePieces()
        let recording = CassetteTransport(recording: network, to: file, matching: [.method, .url, .body])
        let recorded = try await text(recording, .stream(pieces.stream(256)))
        #expect(recorded.hasPrefix("\(64 << 20) "), "The network received all bytes.")
        let playing = CassetteTransport(replaying: file, matching: [.method, .url, .body])
        #expect(try await text(playing, .stream(pieces.stream(256))) == recorded)
        try await expectError(.cassetteUnmatched) { try await text(playing, .stream(pieces.stream(256, last: 2))) }
        #expect(network.requests.withLock { $0.count } == 1)
        #expect(pieces.peak <= 4 << 20, "\(pieces.peak) of 64 MiB were in memory.")
        let written = try Data(contentsOf: file)
        #expect(written.count < 2000)
        #expect(String(decoding: written, as: UTF8.self).contains(#""length": 67108864"#))
    }

    @Test func replayableBodyIsReadAgainAndNotCopied() async throws {
        defer { tearDown() }
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let upload = folder.appending(path: "upload.bin")
        try Data(repeating: 7, count: 3 << 20).write(to: upload)
        let network = DigestingNetwork()
        let recording = CassetteTransport(recording: network, to: file, matching: [.body])
        let recorded = try await text(recording, .file(upload))
        #expect(recorded.hasPrefix("\(3 << 20) "))
        let data = RequestBody.data(Data(repeating: 7, count: 3 << 20))
        #expect(try await text(CassetteTransport(replaying: file, matching: [.body]), data) == recorded)
    }

    /// Bodies around the limit are recorded whole or by their digest, from any source, and are sent unchanged.
    @Test func bodiesAroundTheLimitArriveUnchanged() async throws {
        let network = DigestingNetwork()
        for count in [0, 1, CassetteBodies.limit - 1, CassetteBodies.limit, CassetteBodies.limit + 1] {
            defer { tearDown() }
            let bytes = Data((0..<count).map { UInt8(truncatingIfNeeded: $0 / 3) | 0x80 })
            let halves = [bytes.prefix(count / 2), bytes.dropFirst(count / 2)]
            let stream = AsyncStream<Data> { continuation in
                for half in halves where !half.isEmpty { continuation.yield(Data(half)) }
                continuation.finish()
            }
            let recording = CassetteTransport(recording: network, to: file, mode: .always, matching: [.body])
            let recorded = try await text(recording, .stream(stream))
            #expect(recorded == "\(count) \(SystemSHA256.hexDigest(of: bytes) ?? "")")
            let request = try #require(try Cassette(Data(contentsOf: file)).exchanges.first?.request)
            #expect((request.digest == nil) == (count <= CassetteBodies.limit))
            #expect(request.body == (count <= CassetteBodies.limit ? bytes : Data()))
            let playing = CassetteTransport(replaying: file, matching: [.body])
            #expect(try await text(playing, .data(bytes)) == recorded, "\(count)")
        }
    }

    @Test func temporaryFileOfAStreamIsRemovedWithIt() async throws {
        defer { tearDown() }
        var spooled: BodyFile? = try await BodyFile.create(in: folder)
        try await spooled?.append(Data("hello".utf8))
        let url = try #require(spooled?.url)
        let mode = try FileManager.default.attributesOfItem(atPath: url.path)[.posixPermissions] as? Int
        #expect(mode == 0o600, "Other users cannot read the body.")
        #expect(try Data(contentsOf: url) == Data("hello".utf8))
        spooled = nil
        try await waitUntil("the file is removed") { names(in: folder).isEmpty }
    }

    @Test func failingStreamFailsTheRequestAndLeavesNothing() async throws {
        defer { tearDown() }
        struct Failure: Error {}
        let number = Locked(0)
        let stream = AsyncThrowingStream<Data, any Error> {
            let next = number.withLock { number in
                number += 1
                return number
            }
            if next > 8 { throw Failure() }
            return Data(count: Self.pieceSize)
        }
        let network = DigestingNetwork()
        let recording = CassetteTransport(recording: network, to: file)
        try await expectError(.bodyUnavailable) { try await text(recording, .stream(stream)) }
        #expect(network.requests.withLock { $0.isEmpty })
        #expect(names(in: folder).isEmpty)
    }

    // MARK: Forms

    @Test func formsMatchWithAnyBoundaryAndAnySecret() async throws {
        defer { tearDown() }
        let server = try LoopbackServer()
        server.on(.post, "/films", .text("stored"))
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let film = folder.appending(path: "film.mp4")
        for size in [1000, 5 << 20] {
            try Data(repeating: 7, count: size).write(to: film)
            let matching: [CassetteCriterion] = [.method, .path, .body]
            let cassette = folder.appending(path: "\(size).json")
            let post = { (transport: any Transport, password: String) -> String in
                let client = APIClient(baseURL: server.url) { $0.transport = transport }
                let form: MultipartForm = [
                    .text(password, name: "password"), .file(film, name: "film"),
                    .stream(LivePieces().stream(size >> 20), name: "sound"),
                ]
                return try await client.string.post("films").multipart(form).sender().value
            }
            let network = APIClient.Configuration().transport
            let recording = CassetteTransport(recording: network, to: cassette, matching: matching)
            #expect(try await post(recording, "s3cret-1") == "stored")
            #expect((server.requests.last?.body.count ?? 0) > size, "The server received the whole form.")
            #expect(try !String(contentsOf: cassette, encoding: .utf8).contains("s3cret"))
            let playing = CassetteTransport(replaying: cassette, matching: matching, repeatsLast: true)
            #expect(try await post(playing, "s3cret-2") == "stored", "\(size)")
            try Data(repeating: 8, count: size).write(to: film)
            await #expect(throws: APIError.self) { try await post(playing, "s3cret-1") }
        }
        #expect(server.requestCount == 2)
    }

    // MARK: Responses

    private func streamed(_ pieces: LivePieces, _ count: Int, type: String) -> TransportResponse {
        TransportResponse(
            head: HTTPResponse(status: .ok, headers: [.contentType: type]),
            body: ResponseBody(pieces.stream(count), trailers: { ["Digest": "x"] })
        )
    }

    @Test func longResponseIsInAFileAndPlayedFromIt() async throws {
        defer { tearDown() }
        let pieces = LivePieces()
        let network = DigestingNetwork { streamed(pieces, 128, type: "video/mp4") }
        let recording = CassetteTransport(recording: network, to: file)
        let recorded = try await send(recording)
        let playing = CassetteTransport(replaying: file, repeatsLast: true)
        for response in [recorded, try await send(playing)] {
            var length = 0
            var last: UInt8?
            for try await piece in response.body {
                length += piece.count
                last = piece.last
            }
            #expect(length == 32 << 20 && last == 1)
            #expect(response.body.trailers == ["Digest": "x"])
            #expect(response.body.metrics != nil)
        }
        #expect(pieces.peak <= 4 << 20, "\(pieces.peak) of 32 MiB were in memory.")
        #expect(try Data(contentsOf: file).count < 2000)
        let bodies = folder.appending(path: "cassette.json.bodies")
        #expect(names(in: folder) == ["cassette.json", "cassette.json.bodies"])
        let name = try #require(names(in: bodies).first)
        #expect(names(in: bodies).count == 1 && name.utf8.count == 64)
        let limits = ResponseLimits(body: 1000)
        let limited = try await send(playing, limits: limits)
        try await expectError(.bodyTooLarge) { try await limited.body.collect() }
        let handle = try FileHandle(forWritingTo: bodies.appending(path: name))
        try handle.write(contentsOf: Data("other".utf8))
        try handle.close()
        let changed = try await expectError(.cassetteUnreadable) { try await send(playing).body.collect() }
        #expect(changed.reason.contains(name) && changed.reason.contains("not those that were recorded"))
        try Data("short".utf8).write(to: bodies.appending(path: name))
        try await expectError(.cassetteUnreadable) { try await send(playing) }
        try FileManager.default.removeItem(at: bodies)
        let missing = try await expectError(.cassetteUnreadable) { try await send(playing) }
        #expect(missing.reason.contains(name))
    }

    @Test func longResponseThatMayHaveSecretsIsSearched() async throws {
        defer { tearDown() }
        let name = String(repeating: "x", count: 2000)
        let rows = String(repeating: #"{"id":1,"name":"\#(name)"},"#, count: 600)
        let json = Data(#"{"token":"s3cret","rows":[\#(rows){"id":2}]}"#.utf8)
        for type in ["application/json", "text/plain"] {
            let network = DigestingNetwork {
                TransportResponse(
                    head: HTTPResponse(status: .ok, headers: [.contentType: type]),
                    body: ResponseBody(json)
                )
            }
            _ = try await send(CassetteTransport(recording: network, to: file, mode: .always))
            let played = try await send(CassetteTransport(replaying: file)).body.collect()
            #expect(String(decoding: played.prefix(30), as: UTF8.self).hasPrefix(#"{"token":"REDACTED","rows":"#))
            #expect(try !String(contentsOf: file, encoding: .utf8).contains("s3cret"))
            #expect(names(in: folder) == ["cassette.json"])
        }
        let network = DigestingNetwork {
            TransportResponse(head: HTTPResponse(status: .ok), body: ResponseBody(json))
        }
        _ = try await send(CassetteTransport(recording: network, to: file, mode: .always, redaction: .none))
        #expect(names(in: folder).count == 2, "Without rules, nothing is searched.")
    }

    @Test func recordingAgainRemovesTheOldFiles() async throws {
        defer { tearDown() }
        let bodies = folder.appending(path: "cassette.json.bodies")
        try FileManager.default.createDirectory(at: bodies, withIntermediateDirectories: true)
        try Data().write(to: bodies.appending(path: "notes"))
        for counts in [[8], [6, 7, 6], [1]] {
            let turn = Locked(0)
            let network = DigestingNetwork {
                let number = turn.withLock { number in
                    number += 1
                    return number
                }
                return streamed(LivePieces(), counts[number - 1], type: "video/mp4")
            }
            let recording = CassetteTransport(recording: network, to: file, mode: .always)
            for _ in counts { _ = try await send(recording).body.collect() }
            let playing = CassetteTransport(replaying: file)
            for count in counts {
                #expect(try await send(playing).body.collect().count == count * Self.pieceSize)
            }
            let old = names(in: bodies).filter { $0 != "notes" }
            #expect(old.count == Set(counts.filter { $0 > 4 }).count)
        }
        #expect(names(in: bodies) == ["notes"])
    }

    @Test func closureReplacesLongResponse() async throws {
        defer { tearDown() }
        let network = DigestingNetwork { streamed(LivePieces(), 8, type: "video/mp4") }
        var redaction = CassetteRedaction.standard
        redaction.redact = { exchange in
            guard case .success(var response) = exchange.result else { return }
            response.body = Data("removed".utf8)
            exchange.result = .success(response)
        }
        let recorded = try await send(CassetteTransport(recording: network, to: file, redaction: redaction))
        #expect(try await recorded.body.collect().count == 2 << 20)
        let bodies = folder.appending(path: "cassette.json.bodies")
        try await waitUntil("the file is removed") { names(in: bodies).isEmpty }
        let played = try await send(CassetteTransport(replaying: file, redaction: redaction)).body.collect()
        #expect(played == Data("removed".utf8))
    }

    @Test func interruptedResponseLeavesNoFile() async throws {
        defer { tearDown() }
        let network = DigestingNetwork {
            let stream = AsyncThrowingStream<Data, any Error> { continuation in
                continuation.yield(Data(count: 2 << 20))
                continuation.finish(throwing: SluiceError(.connectionLost, "It was lost."))
            }
            return TransportResponse(head: HTTPResponse(status: .ok), body: ResponseBody(stream))
        }
        let recording = CassetteTransport(recording: network, to: file)
        try await expectError(.connectionLost) { try await send(recording) }
        let bodies = folder.appending(path: "cassette.json.bodies")
        try await waitUntil("the file is removed") { names(in: bodies).isEmpty }
        try await expectError(.connectionLost) { try await send(CassetteTransport(replaying: file)) }
    }

    @Test(arguments: [
        #"{"length": 2000000, "sha256": "../../../etc/passwd"}"#, #"{"length": -1, "sha256": "\#(zeros)"}"#,
        #"{"length": "1", "sha256": "\#(zeros)"}"#, #"{"sha256": "\#(zeros)"}"#, #"{"length": 1, "sha256": ""}"#,
    ])
    func invalidDigestIsRefused(_ body: String) throws {
        for (request, response) in [("\(body)", "null"), ("null", "\(body)")] {
            let text = """
                {"version":1,"exchanges":[{"request":{"method":"GET","url":"http://a/","body":\(request)},
                "response":{"status":200,"body":\(response)}}]}
                """
            let error = #expect(throws: SluiceError.self) { try Cassette(Data(text.utf8)) }
            #expect(error?.reason.contains("exchange 1 has a body whose length or sha256 is not valid") == true)
        }
    }

    private static let zeros = String(repeating: "0", count: 64)
}
