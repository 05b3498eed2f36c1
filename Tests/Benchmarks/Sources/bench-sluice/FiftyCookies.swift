import Sluice

extension CookieJar {
    private static let names = (0..<50).map { "c\($0)" }
    private static let value = "c2x1aWNlLXNsdWljZS1zbHVpY2U"

    /// The `Cookie` field value of a request with the fifty cookies.
    static let field = names.map { "\($0)=\(value)" }.joined(separator: "; ")

    /// Creates a jar in memory with fifty cookies for a host. Each request to it carries all of them.
    convenience init(cookiesOf host: String) async throws(SluiceError) {
        self.init()
        for name in CookieJar.names {
            try await set(Cookie(name: name, value: CookieJar.value, domain: host))
        }
    }
}
