import SluiceHTTP
import Testing

@Suite struct ProxyExceptionsTests {
    @Test(
        arguments: [
            ("*", "any.example", 1, true), ("*", "::1", 1, true), ("", "any.example", 1, false),
            (" , ,", "any.example", 1, false), ("example.com", "example.com", 80, true),
            ("example.com", "EXAMPLE.com.", 80, true), ("example.com", "www.example.com", 80, true),
            ("example.com", "a.b.example.com", 80, true), ("example.com", "badexample.com", 80, false),
            ("example.com", "example.com.org", 80, false), ("example.com", "com", 80, false),
            (".example.com", "example.com", 80, true), (".example.com", "www.example.com", 80, true),
            (".example.com", "badexample.com", 80, false), ("*.example.com", "www.example.com", 80, true),
            ("a.example,b.example", "b.example", 80, true), ("a.example b.example", "b.example", 80, true),
            ("a.example,\tb.example\n", "b.example", 80, true), ("EXAMPLE.com", "example.com", 80, true),
            ("192.0.2.1", "192.0.2.1", 80, true), ("192.0.2.1", "192.0.2.10", 80, false),
            ("192.0.2.0/24", "192.0.2.77", 80, true), ("192.0.2.0/24", "192.0.3.1", 80, false),
            ("192.0.2.0/24", "192.0.2.77.example", 80, false), ("0.0.0.0/0", "www.example.com", 80, false),
            ("2001:db8::1", "[2001:db8:0::1]", 80, true), ("[2001:db8::1]", "2001:db8::1", 80, true),
            ("2001:db8::/32", "[2001:db8:1::1]", 80, true), ("fd00::/8", "2001:db8::1", 80, false),
            ("example.com:8080", "example.com", 8080, true), ("example.com:8080", "www.example.com", 8080, true),
            ("example.com:8080", "example.com", 80, false), ("192.0.2.1:8080", "192.0.2.1", 8080, true),
            ("192.0.2.1:8080", "192.0.2.1", 443, false), ("[2001:db8::1]:8080", "2001:db8::1", 8080, true),
            ("[2001:db8::1]:8080", "2001:db8::1", 443, false), ("*:8080", "any.example", 8080, true),
            ("*:8080", "any.example", 80, false), ("example.com:x", "example.com", 80, false),
            ("exam*.com", "example.com", 80, false), ("192.0.2.0/99", "192.0.2.1", 80, false),
            ("0.2.1", "192.0.2.1", 80, false), (".", "example.com", 80, false), ("[::1", "::1", 80, false),
        ] as [(String, String, Int, Bool)]
    )
    func exceptionsMatchHostsAndPorts(list: String, host: String, port: Int, isException: Bool) {
        #expect(ProxyExceptions(list).contains(host, port: port) == isException)
    }
}
