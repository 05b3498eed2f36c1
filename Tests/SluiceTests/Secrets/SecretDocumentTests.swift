import Foundation
import SluiceTesting
import Testing

@testable import Sluice
@testable import SluiceHTTP

/// No secret of any document reaches a log, an HTTP archive, a cURL command, a cassette or the text of an error.
@Suite struct SecretDocumentTests {
    private struct Trouble: Error, CustomStringConvertible {
        let description: String
    }

    /// The messages of one request, with secrets in all their parts.
    private struct Messages {
        var documents: SecretDocuments
        let request: HTTPRequest
        let upload: Data
        let response: ServerResponse
        let error: SluiceError

        init(seed: UInt64) {
            documents = SecretDocuments(seed: seed)
            let (upload, uploadType) = documents.body()
            self.upload = upload
            let (body, type) = documents.body()
            request = HTTPRequest(
                method: documents.pick([.get, .post, .put]),
                scheme: "https",
                authority: documents.pick(["b.c", "ada:\(documents.secret)@b.c"]),
                path: documents.path(),
                headers: Self.headers(documents.headers(), uploadType),
                body: .data(upload)
            )
            let head = HTTPResponse(status: 200, headers: Self.headers(documents.headers(), type))
            response = ServerResponse(request: request, head: head, body: body)
            error = SluiceError(
                .gateFailed,
                "The gate has failed.",
                request: request,
                response: head,
                underlyingError: Trouble(description: documents.sentence())
            )
        }

        private static func headers(_ fields: [(String, String)], _ type: String?) -> HTTPHeaders {
            var headers = HTTPHeaders()
            for (name, value) in fields { headers.append(HTTPHeaderName(name), value) }
            headers[.contentType] = type
            return headers
        }

        func observe(_ observer: some RequestObserver, _ events: [RequestEvent]) {
            for event in events where observer.interests.contains(event.kind) {
                let observed = ObservedRequest(
                    id: RequestID(rawValue: 1),
                    attempt: 1,
                    elapsed: .milliseconds(1),
                    beganDate: LoggedLines.date,
                    secretHeaders: ["X-Tenant"]
                )
                observer.observe(event, of: observed)
            }
        }
    }

    private static let seeds: [UInt64] = Array(0..<8)
    private static let casesPerSeed: UInt64 = 15

    /// Writes messages, and fails for each that still contains its secret.
    private func search(_ batch: UInt64, _ write: (Messages, SecretSearch) throws -> Void) async rethrows {
        for seed in batch * Self.casesPerSeed..<(batch + 1) * Self.casesPerSeed {
            let messages = Messages(seed: seed)
            let search = SecretSearch(messages.documents.secret)
            try write(messages, search)
            #expect(search.sightings.isEmpty, "seed \(seed): \(search.sightings)")
            #expect(search.count > 0)
            // Lets other tests go on, some of which measure time.
            await Task.yield()
        }
    }

    @Test(arguments: seeds)
    func logHasNoSecret(_ batch: UInt64) async {
        await search(batch) { messages, search in
            var documents = messages.documents
            let lines = LoggedLines()
            let refused = SluiceError(.gateFailed, documents.sentence(), underlyingError: messages.error)
            messages.observe(
                lines.log(.full, curl: true),
                [
                    .began(messages.request), .sending(messages.request),
                    .redirected(messages.response, to: messages.request), .received(.success(messages.response)),
                    .cached(messages.response), .refused(gate: "gate", refused),
                    .finished(.failure(messages.error)),
                ]
            )
            search.read("the log", lines.text)
        }
    }

    @Test(arguments: seeds)
    func archiveHasNoSecret(_ batch: UInt64) async throws {
        try await search(batch) { messages, search in
            let recorder = HARRecorder()
            messages.observe(
                recorder,
                [
                    .began(messages.request), .sending(messages.request), .received(.success(messages.response)),
                    .finished(.failure(messages.error)),
                ]
            )
            let archive = recorder.har()
            #expect(archive.entries.count == 1)
            search.read("the archive", String(decoding: try archive.data(), as: UTF8.self))
            search.look("the values", archive.entries)
        }
    }

    @Test(arguments: seeds)
    func commandHasNoSecret(_ batch: UInt64) async {
        await search(batch) { messages, search in
            search.read("the command", messages.request.curlCommand(secretHeaders: ["X-Tenant"]))
        }
    }

    @Test(arguments: seeds)
    func cassetteHasNoSecret(_ batch: UInt64) async {
        var redaction = CassetteRedaction.standard
        redaction.headers.append("X-Tenant")
        await search(batch) { messages, search in
            let request = messages.request
            let recorded = RecordedExchange(
                request: RecordedRequest(
                    method: request.method,
                    url: request.url,
                    headers: request.headers,
                    body: messages.upload
                ),
                result: .success(
                    RecordedExchange.Response(
                        head: messages.response.head,
                        body: messages.response.body,
                        trailers: messages.response.head.headers
                    )
                )
            )
            let once = redaction.redacted(recorded)
            search.read("the cassette", String(decoding: Cassette(exchanges: [once]).data, as: UTF8.self))
            let twice = redaction.redacted(once)
            let texts = [once, twice].map { String(decoding: Cassette(exchanges: [$0]).data, as: UTF8.self) }
            #expect(texts[0] == texts[1])
        }
    }

    @Test(arguments: seeds)
    func errorsHaveNoSecret(_ batch: UInt64) async {
        await search(batch) { messages, search in
            search.look("the error", messages.error)
            search.read("its localized description", messages.error.localizedDescription)
            search.read("its expanded description", messages.error.expandedDescription)
        }
    }

    @Test func searchFindsSecretWithoutRedaction() {
        for seed in UInt64(0)..<40 {
            let messages = Messages(seed: seed)
            let search = SecretSearch(messages.documents.secret)
            search.read("the command", messages.request.curlCommand(redaction: .none))
            #expect(!search.sightings.isEmpty, "seed \(seed)")
        }
    }
}
