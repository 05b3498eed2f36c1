#if os(Linux)
import Testing

@testable import SluiceEngine

@Suite struct ServerIdentityTests {
    @Test(arguments: [
        ("Api.Example", "api.example", true), ("api.example.", "api.example", true), ("127.0.0.1", "127.0.0.1", false),
        ("127.0.0.1.", "127.0.0.1", false), ("[::1]", "::1", false), ("::1", "::1", false),
        ("[FE80::1%25eth0]", "fe80::1", false),
        ("fe80::1%eth0", "fe80::1", false), ("[::ffff:1.2.3.4]", "1.2.3.4", false), ("127.1", "127.1", true),
    ])
    func hostsAreNamesOrAddresses(_ host: String, _ description: String, _ isAnnounced: Bool) {
        let identity = ServerIdentity(host: host)
        #expect(identity?.description == description)
        #expect(identity?.serverNameIndication == (isAnnounced ? description : nil))
    }
}
#endif
