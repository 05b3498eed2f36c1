#if os(Linux)
import Glibc
import SluiceHTTP
import Testing

@testable import SluiceEngine

@Suite struct SystemLookupTests {
    static let failures: [(code: Int32, failure: Resolver.Failure)] = [
        (EAI_NONAME, .notFound), (-5, .notFound), (-9, .notFound),
        (EAI_AGAIN, .temporary("Temporary failure in name resolution")),
        (EAI_FAIL, .temporary("Non-recoverable failure in name resolution")),
        (EAI_SYSTEM, .temporary("Connection refused")),
    ]

    @Test(arguments: failures)
    func errorCodesAreMapped(code: Int32, failure: Resolver.Failure) {
        #expect(SystemLookup.failure(code, errno: ECONNREFUSED) == failure)
    }

    /// The system resolves these without a query.
    static let numeric: [(host: String, address: String)] = [
        ("127.0.0.1", "127.0.0.1"), ("127.1", "127.0.0.1"), ("0x7f000001", "127.0.0.1"), ("2130706433", "127.0.0.1"),
        ("::1", "::1"),
    ]

    @Test(arguments: numeric)
    func numericFormsAreResolved(host: String, address: String) throws {
        let expected = ScopedAddress(try #require(IPAddress(address)))
        #expect(SystemLookup.addresses(of: host) == .success([expected]))
    }

    @Test(arguments: ["localhost", "LocalHost.", "service.localhost"])
    func localhostIsLoopback(host: String) async throws {
        let answer = await withCheckedContinuation { continuation in
            let resolution = Resolver.shared.resolve(host, port: 8080) { continuation.resume(returning: $0) }
            if case .answer(let answer) = resolution { continuation.resume(returning: answer) }
        }
        let addresses = try answer.get()
        #expect(addresses.contains(SocketAddress(address: IPAddress(127, 0, 0, 1), port: 8080)))
        #expect(addresses.allSatisfy { $0.address.isLoopback && $0.port == 8080 })
    }
}
#endif
