#if os(Linux)
import CSSL
import Foundation
import SluiceHTTP
import Testing

@testable import SluiceEngine

@Suite struct TLSSessionTests {
    private let certificates: TestCertificates
    private let lost: PublicKeyPin = "sha256/AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="

    init() throws { certificates = try TestCertificates.shared.get() }

    private func server(_ version: Int32, tickets: Int = 2) throws -> TestTLSServer {
        var options = TestTLSServer.Options(certificates.right)
        options.versions = version...version
        options.tickets = tickets
        return try TestTLSServer(options)
    }

    /// Creates a context with a unique protocol, so that the context and its sessions belong to this test.
    private func context(_ trust: TLSConfiguration.Trust? = nil, _ name: String = UUID().uuidString) throws
        -> TLSContext
    {
        let tls = TLSConfiguration(trust: trust ?? .only(certificates.root.source))
        return try TLSContext.context(for: tls, offering: [name])
    }

    /// Opens a connection, exchanges a few bytes and closes it. Returns true if it resumed a session.
    private func isResumed(
        _ server: TestTLSServer,
        _ context: TLSContext,
        host: String = "localhost",
        port: Int = 443,
        pins: PublicKeyPins? = nil,
        closes: Bool = true
    ) throws -> Bool {
        let client = try TestTLSClient(context, server.connect(), host: host, port: port, pins: pins)
        #expect(client.handshake() == nil)
        #expect(client.answer(to: "hello") == "hello")
        if closes { client.stream.close() }
        return client.stream.isResumed
    }

    @Test(arguments: [TLS1_2_VERSION, TLS1_3_VERSION], [false, true])
    func sessionIsResumedUnderTheSamePolicyOnly(_ version: Int32, _ closes: Bool) throws {
        let server = try server(version)
        let first = try context()
        #expect(try !isResumed(server, first, closes: closes))
        for _ in 0..<3 { #expect(try isResumed(server, first, closes: closes)) }
        // Another policy, another name of the same server, and another port.
        #expect(try !isResumed(server, context()))
        #expect(try !isResumed(server, first, host: "127.0.0.1"))
        #expect(try !isResumed(server, first, port: 8443))
        #expect(try isResumed(server, first, host: "LOCALHOST."))
    }

    @Test func tls13TicketIsUsedOnce() throws {
        let server = try server(TLS1_3_VERSION, tickets: 1)
        let context = try context()
        #expect(try !isResumed(server, context))
        let clients = try (0..<2).map { _ in try TestTLSClient(context, server.connect()) }
        for client in clients { #expect(client.handshake() == nil) }
        #expect(clients.map(\.stream.isResumed) == [true, false])
    }

    @Test func tls12SessionIsResumedConcurrently() throws {
        let server = try server(TLS1_2_VERSION)
        let context = try context()
        #expect(try !isResumed(server, context))
        let clients = try (0..<3).map { _ in try TestTLSClient(context, server.connect()) }
        for client in clients { #expect(client.handshake() == nil) }
        #expect(clients.map(\.stream.isResumed) == [true, true, true])
    }

    @Test(arguments: [TLS1_2_VERSION, TLS1_3_VERSION])
    func failedVerificationLeavesNoSession(_ version: Int32) throws {
        let server = try server(version)
        let distrusting = try context(.only(certificates.otherRoot.source))
        for _ in 0..<2 {
            let client = try TestTLSClient(distrusting, server.connect())
            #expect((client.handshake()?.underlyingError as? TLSFailure)?.check == .authority)
            #expect(!client.stream.isResumed)
        }
        let context = try context()
        let wrong = PublicKeyPins(lost, backups: lost)
        for _ in 0..<2 {
            let client = try TestTLSClient(context, server.connect(), pins: wrong)
            #expect((client.handshake()?.underlyingError as? TLSFailure)?.check == .pin)
            #expect(!client.stream.isResumed)
            _ = client.read()
        }
        // A session made without pins is not used with pins, and vice versa.
        #expect(try !isResumed(server, context))
        let client = try TestTLSClient(context, server.connect(), pins: wrong)
        #expect((client.handshake()?.underlyingError as? TLSFailure)?.check == .pin)
        let right = PublicKeyPins(try certificates.right.pin, backups: lost)
        #expect(try !isResumed(server, context, pins: right))
        #expect(try isResumed(server, context, pins: right))
        #expect(try isResumed(server, context))
        // A session made without verification is not used with verification.
        let name = UUID().uuidString
        #expect(try !isResumed(server, self.context(.insecurelyAnyCertificate, name)))
        #expect(try isResumed(server, self.context(.insecurelyAnyCertificate, name)))
        #expect(try !isResumed(server, self.context(nil, name)))
    }

    @Test(arguments: [TLS1_2_VERSION, TLS1_3_VERSION])
    func reportOnlyPinsAreCheckedForResumedSessions(_ version: Int32) throws {
        let server = try server(version)
        let context = try context()
        for (pin, isMet) in [(lost, false), (try certificates.right.pin, true), (try certificates.root.pin, true)] {
            let pins = PublicKeyPins(pin, backups: lost, mode: .report { _ in })
            for turn in 0..<3 {
                let client = try TestTLSClient(context, server.connect(), pins: pins)
                #expect(client.handshake() == nil)
                #expect(client.stream.isResumed == (turn > 0))
                #expect((client.stream.pinFailure == nil) == isMet)
                #expect(client.stream.pinFailure.map { $0.certificate?.subject == "CN=right" } ?? isMet)
                #expect(client.answer(to: "a") == "a")
            }
            let enforced = PublicKeyPins(pin, backups: lost)
            let client = try TestTLSClient(context, server.connect(), pins: enforced)
            #expect((client.handshake() == nil) == isMet)
            #expect(!client.stream.isResumed)
        }
    }

    @Test func serverWithoutTheSessionIsConnectedAgain() throws {
        let context = try context()
        for version in [TLS1_2_VERSION, TLS1_3_VERSION, TLS1_2_VERSION] {
            for _ in 0..<2 { #expect(try !isResumed(server(version), context)) }
        }
    }

    @Test func renewedFilesInvalidateSessions() throws {
        let folder = try TestFolder()
        let path = try folder.put(certificates.root.certificate, at: "root.pem")
        let trust = TLSConfiguration.Trust.only(.file(path))
        let name = UUID().uuidString
        let server = try server(TLS1_3_VERSION)
        #expect(try !isResumed(server, context(trust, name)))
        #expect(try isResumed(server, context(trust, name)))
        try folder.put(certificates.root.certificate + Data("\n".utf8), at: "root.pem")
        #expect(try !isResumed(server, context(trust, name)))
    }

    // MARK: The time of a verification

    @Test(arguments: [TLS1_2_VERSION, TLS1_3_VERSION], [86_400, 3600])
    func verificationIsValidForADayOrUntilExpiry(_ version: Int32, _ lifetime: Int) throws {
        let start = Int64(time(nil))
        let shortLived = try TestCertificate("brief", names: "DNS:localhost", lifetime: 3600, issuer: certificates.root)
        var options = TestTLSServer.Options(lifetime == 3600 ? shortLived : certificates.right)
        options.versions = version...version
        let server = try TestTLSServer(options)
        let context = try context()
        let key = key(context.serial, "localhost")
        #expect(try !isResumed(server, context))
        let first = try #require(TLSSessionCache.shared.take(key))
        let earliest = start + Int64(lifetime)
        #expect((earliest...earliest + 300).contains(first.verifiedUntil))
        // A resumed session does not extend the time of the original verification.
        let end = start + 100
        let client = try TestTLSClient(context, server.connect())
        #expect(client.handshake() == nil)
        #expect(client.answer(to: "hello") == "hello")
        let session = try #require(SSL_get_session(client.stream.connection))
        let older = try #require(StoredSession(session, meetsPins: true, verifiedUntil: end))
        TLSSessionCache.shared.remove(key)
        TLSSessionCache.shared.store(older, under: key)
        #expect(try isResumed(server, context))
        let next = try #require(TLSSessionCache.shared.take(key))
        #expect(next !== older)
        #expect(next.verifiedUntil == end)
    }

    // MARK: The cache

    /// Returns a session of a real connection, with TLS 1.3 or 1.2.
    private func session(_ version: Int32 = TLS1_3_VERSION, until end: Int64 = .max) throws -> StoredSession {
        let client = try TestTLSClient(context(), server(version).connect { $0.write("a") })
        #expect(client.handshake() == nil)
        #expect(client.read().1 == Array("a".utf8))
        let session = try #require(SSL_get_session(client.stream.connection))
        return try #require(StoredSession(session, meetsPins: true, verifiedUntil: end))
    }

    private func key(_ context: UInt64, _ host: String) -> TLSSessionCache.Key {
        TLSSessionCache.Key(context: context, host: host, port: 443, pins: [], enforcesPins: false)
    }

    @Test func leastRecentlyUsedSessionsAreRemoved() throws {
        let cache = TLSSessionCache(limit: 3, limitPerKey: 2)
        let (once, often) = try (session(), session(TLS1_2_VERSION))
        for host in ["a", "b", "c"] { cache.store(often, under: key(1, host)) }
        #expect(cache.take(key(1, "a")) === often)
        cache.store(once, under: key(1, "d"))
        #expect(cache.count == 3)
        #expect(cache.take(key(1, "b")) == nil)
        #expect(cache.take(key(1, "a")) === often)
        #expect(cache.take(key(1, "d")) === once)
        #expect(cache.take(key(1, "d")) == nil)
        #expect(cache.take(key(2, "a")) == nil)
        for _ in 0..<3 { cache.store(once, under: key(1, "a")) }
        #expect(cache.count == 3)
        cache.remove(key(1, "a"))
        #expect(cache.count == 1)
        cache.store(often, under: key(2, "c"))
        cache.removeAll(of: 1)
        #expect(cache.count == 1)
        #expect(cache.take(key(2, "c")) === often)
    }

    @Test func sessionExpiresWithItsLifetimeOrVerification() throws {
        let cache = TLSSessionCache(limit: 3, limitPerKey: 2)
        let now = Int64(time(nil))
        let (long, short) = try (session(), session(until: now + 100))
        #expect(long.expiry > now + 100)
        #expect(long.expiry <= now + 7 * 86_400 + 5)
        #expect(short.expiry == now + 100)
        cache.store(short, under: key(1, "a"))
        #expect(cache.take(key(1, "a"), at: now + 99) === short)
        cache.store(short, under: key(1, "a"))
        #expect(cache.take(key(1, "a"), at: now + 100) == nil)
        #expect(cache.count == 0)
    }
}
#endif
