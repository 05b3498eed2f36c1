import Logging
import Sluice
import SluiceTesting
import Telemetry
import Testing

@Suite struct LogObserverTests {
    enum Tenant {
        @TaskLocal static var current: String?
    }

    private let log = RecordingLogHandler.Log()

    private func client(_ server: LoopbackServer, _ provider: Logger.MetadataProvider? = nil) -> APIClient {
        let logger = Logger(label: "test") { _ in RecordingLogHandler(log, metadataProvider: provider) }
        return APIClient(baseURL: server.url) {
            $0.observers = [LogObserver(logger)]
            $0.retry = RetryPolicy(maximumAttempts: 2, backoff: Backoff(base: .zero, limit: .zero))
        }
    }

    @Test func anAcceptedResponseIsInformation() async throws {
        try await withLoopbackServer { server in
            server.on("/users/42", .text("Ada"))
            let client = client(server)
            _ = try await client.string.get("users/42").query("token", "s3cret").sender().value
            await client.observersCaughtUp()
            let entry = try #require(log.entries.first)
            #expect(log.entries.count == 1)
            #expect(entry.level == .info)
            #expect(entry["method"] == "GET" && entry["route"] == "users/{}" && entry["status"] == "200")
            #expect(entry["url"] == "\(server.url)/users/42?token=REDACTED")
            #expect(entry["duration_ms"].flatMap(Int.init) != nil)
            #expect(entry["error"] == nil)
        }
    }

    @Test func aRetryIsANoticeAndAFailureAWarning() async throws {
        try await withLoopbackServer { server in
            server.on("/users", .status(.serviceUnavailable))
            let client = client(server)
            _ = await client.string.get("users").sender().response
            await client.observersCaughtUp()
            #expect(log.entries.map(\.level) == [.notice, .warning])
            #expect(log.entries.map { $0["status"] } == ["503", "503"])
            #expect(log.entries.first?["attempt"] == "1")
            #expect(log.entries.last?["error_code"] == "unacceptableStatus")
            #expect(Set(log.entries.map { $0["request_id"] }).count == 1)
        }
    }

    @Test func errorsShowNoSecrets() async throws {
        try await withLoopbackServer { server in
            var redaction = Redaction.standard
            redaction.parameterNames.insert("iban")
            let logger = Logger(label: "test") { _ in RecordingLogHandler(log) }
            let observer = LogObserver(logger, redaction: redaction)
            let client = APIClient(baseURL: server.url) { $0.observers = [observer] }
            _ = await client.string.get("accounts;iban=DE8937").sender().response
            await client.observersCaughtUp()
            let entry = try #require(log.entries.first)
            #expect(entry["error"]?.contains("/accounts;iban=REDACTED") == true)
        }
    }

    @Test func aCancellationIsForDebugging() async throws {
        try await withLoopbackServer { server in
            server.on("/slow", .hang)
            let client = client(server)
            let sender = client.string.get("slow").sender()
            sender.start { _ in }
            await server.waitForRequests(1)
            sender.cancel()
            try await waitUntil("the end is logged") { !log.entries.isEmpty }
            #expect(log.entries.map(\.level) == [.debug])
            #expect(log.entries.first?["error_code"] == "cancelled")
        }
    }

    @Test func droppedEventsAreCounted() {
        LogObserver(Logger(label: "test") { _ in RecordingLogHandler(log) }).didDrop(3)
        #expect(log.entries.map(\.level) == [.warning])
        #expect(log.entries.first?["count"] == "3")
    }

    @Test func aMetadataProviderReadsTheTaskLocalValuesOfTheCaller() async throws {
        try await withLoopbackServer { server in
            server.on("/users", .status(.serviceUnavailable), .text("Ada"))
            let client = client(server, Logger.MetadataProvider { ["tenant": "\(Tenant.current ?? "none")"] })
            _ = try await Tenant.$current.withValue("acme") { try await client.string.get("users").sender().value }
            await client.observersCaughtUp()
            #expect(log.entries.map { $0["tenant"] } == ["acme", "acme"])
        }
    }
}
