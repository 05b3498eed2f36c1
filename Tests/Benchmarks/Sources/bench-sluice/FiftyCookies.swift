import Sluice

extension CookieJar {
    private static let names = (0..<50).map { "c\($0)" }
    private static let value = "c2x1aWNlLXNsdWljZS1zbHVpY2U"

    /// The field of a request that the fifty cookies make.
    static let field = names.map { "\($0)=\(value)" }.joined(separator: "; ")

    /// Makes a jar in memory with fifty cookies of a host, all of which its requests get.
    convenience init(cookiesOf host: String) async throws(SluiceError) {
        self.init()
        for name in CookieJar.names {
            try await set(Cookie(name: name, value: CookieJar.value, domain: host))
        }
    }
}
