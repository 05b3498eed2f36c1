#if os(Linux)
import SluiceHTTP
import Testing

@testable import SluiceEngine

@Suite struct LookupTargetTests {
    private static func target(_ host: String) -> LookupTarget {
        LookupTarget(host) { ["eth0": 2, "25": 9, "lo": 1][$0] ?? 0 }
    }

    static let addresses: [(host: String, address: String, scope: UInt32)] = [
        ("127.0.0.1", "127.0.0.1", 0), ("127.0.0.1.", "127.0.0.1", 0), ("::1", "::1", 0),
        ("2001:DB8::a", "2001:db8::a", 0), ("::ffff:1.2.3.4", "::ffff:1.2.3.4", 0),
        ("fe80::1%eth0", "fe80::1", 2), ("fe80::1%25eth0", "fe80::1", 2), ("fe80::1%3", "fe80::1", 3),
        ("fe80::1%25", "fe80::1", 9), ("fe80::1%254", "fe80::1", 4), ("fe80::1%0", "fe80::1", 0),
    ]

    @Test(arguments: addresses)
    func addressesAndZonesAreParsed(host: String, address: String, scope: UInt32) throws {
        let expected = ScopedAddress(try #require(IPAddress(address)), scope: scope)
        #expect(LookupTargetTests.target(host) == .address(expected))
    }

    static let invalid: [String] = [
        "", ".", "a\0b", "localhost\0.example", String(repeating: "a", count: 256), "host%eth0", "127.0.0.1%eth0",
        "fe80::1%", "fe80::1%nothing", "fe80::1%+3", "fe80::1%4294967296", "fe80::1%25nothing", "a:80", "[::1]",
        "::1.", "1:2:3", "a.invalid", "a.b.INVALID.", ".invalid",
    ]

    @Test(arguments: invalid)
    func rejectsInvalidHosts(host: String) {
        #expect(LookupTargetTests.target(host) == .invalid)
    }

    static let names: [(host: String, key: String, text: String)] = [
        ("api.example", "api.example", "api.example"), ("API.Example.", "api.example.", "API.Example."),
        ("\u{212A}.example", "\u{212A}.example", "\u{212A}.example"), ("localhost", "localhost", "localhost"),
        ("LOCALHOST.", "localhost", "localhost"), ("a.b.localhost", "localhost", "localhost"),
        ("notlocalhost", "notlocalhost", "notlocalhost"),
        ("localhost.example", "localhost.example", "localhost.example"),
        ("invalid.example", "invalid.example", "invalid.example"), ("a-invalid", "a-invalid", "a-invalid"),
        // Unusual forms of addresses are left to the system's resolver. The address policy checks the result.
        ("127.1", "127.1", "127.1"), ("0x7F000001", "0x7f000001", "0x7F000001"),
        ("0177.0.0.1", "0177.0.0.1", "0177.0.0.1"),
        (String(repeating: "a", count: 255), String(repeating: "a", count: 255), String(repeating: "a", count: 255)),
    ]

    @Test(arguments: names)
    func namesAreSharedByKey(host: String, key: String, text: String) throws {
        guard case .name(let name) = LookupTargetTests.target(host) else {
            Issue.record("\(host) is not a name.")
            return
        }
        #expect(name.key == key)
        #expect(name.text == text)
    }

    static let answers: [(host: String, result: [String]?, answer: [String]?)] = [
        ("api.example", ["10.0.0.1", "::2", "10.0.0.1"], ["10.0.0.1", "::2"]),
        ("api.example", [], nil),
        ("api.example", nil, nil),
        ("localhost", ["127.0.0.1"], ["127.0.0.1"]),
        ("localhost", ["::1", "127.0.0.5"], ["::1", "127.0.0.5"]),
        ("localhost", ["127.0.0.1", "10.0.0.1"], ["::1", "127.0.0.1"]),
        ("a.localhost", nil, ["::1", "127.0.0.1"]),
        ("a.localhost", [], ["::1", "127.0.0.1"]),
    ]

    @Test(arguments: answers)
    func emptyAndForeignAnswersAreReplaced(host: String, result: [String]?, answer: [String]?) throws {
        guard case .name(let name) = LookupTarget(host) else {
            Issue.record("\(host) is not a name.")
            return
        }
        let scoped = { (texts: [String]?) -> Result<[ScopedAddress], Resolver.Failure> in
            guard let texts else { return .failure(.notFound) }
            return .success(texts.compactMap { IPAddress($0) }.map { ScopedAddress($0) })
        }
        #expect(name.answer(from: scoped(result)) == scoped(answer))
    }

    @Test func longAnswersAreCapped() throws {
        guard case .name(let name) = LookupTarget("api.example") else {
            Issue.record("The host is not a name.")
            return
        }
        let many = (0..<200).map { ScopedAddress(IPAddress(10, 0, 0, UInt8($0))) }
        #expect(name.answer(from: .success(many)) == .success(Array(many.prefix(32))))
    }
}
#endif
