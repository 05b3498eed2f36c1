import Foundation
import Sluice

// Values of several types where one is expected, and names that people try first.

private let base = "https://shop.example"

func secretsOfAProxy(secret: Secret, optional: Secret?, text: String) {
    show(ProxySelection.http("proxy.example:3128", user: "bank", password: secret))
    show(ProxySelection.http("proxy.example:3128", user: "bank", password: optional))
    show(ProxySelection.http("proxy.example:3128", user: "bank", password: text))
    show(ProxySelection.http("proxy.example:3128", user: "bank", password: "s3cret"))
    show(ProxySelection.socks5("proxy.example", user: "bank", password: secret))
    show(ProxySelection.socks5("proxy.example", user: "bank", password: optional))
    show(Proxy.http("proxy.example:3128", user: "bank", password: secret, methods: .digest))
    show(Proxy.https("proxy.example:3128", user: "bank", password: optional))
    show(Proxy.socks5("proxy.example", user: "bank", password: secret, resolvesNames: false))
}

func secretsOfACertificate(secret: Secret, optional: Secret?, text: String, url: URL) {
    show(ClientCertificate.pem(certificate: .file("a.pem"), key: .file("a.key"), password: secret))
    show(ClientCertificate.pem(certificate: .file("a.pem"), key: .file("a.key"), password: optional))
    show(ClientCertificate.pem(certificate: .file(url), key: .file(url), password: text))
    show(ClientCertificate.pkcs12(.file(url), password: secret))
    show(ClientCertificate.pkcs12(.file(url), password: text))
    show(ClientCertificate.pkcs12(.file("a.p12"), password: "s3cret"))
}

func secretOfBasicAuthorization(secret: Secret, text: String) {
    show(shop.get("me", as: User.self).basicAuthorization("ada", secret))
    show(shop.get("me", as: User.self).basicAuthorization("ada", text))
}

func authoritiesOfFiles(url: URL) {
    show(APIClient(baseURL: base) { $0.connection.tls.trust = .systemAnd(.file(url)) })
    show(APIClient(baseURL: base) { $0.connection.tls.trust = .only(.file("/etc/ca.pem")) })
    if case .file(let path) = CertificateSource.file(url) { show(path) }
}

func pinsOfAnArray(pin: PublicKeyPin, texts: [String]) {
    show(PublicKeyPins([pin, pin]))
    show(PublicKeyPins([pin, pin], mode: .report { print($0) }))
    show(PublicKeyPins(texts.map { PublicKeyPin($0) }))
    show(PublicKeyPins(["sha256/a", "sha256/b"]))
    show(PublicKeyPins(pin, backups: pin, pin, mode: .enforce))
}

func tokenURLs(issuer: URL) {
    show(OAuth2(.clientCredentials(id: "a", secret: "b"), tokenURL: issuer.appending(path: "oauth/token")))
    show(OAuth2(.clientCredentials(id: "a", secret: "b"), tokenURL: "https://id.example/token") { $0.origins = [base] })
    show(
        OAuth2(.clientCredentials(id: "a", secret: "b"), tokenURL: issuer) { $0.revocationURL = issuer.absoluteString }
    )
}

func sharedConfiguration(url: URL) {
    let configure: @Sendable (inout APIClient.Configuration) -> Void = { $0.timeouts.total = .seconds(5) }
    show(APIClient(baseURL: base, configure: configure))
    show(APIClient(baseURL: url, configure: configure))
    show(APIClient(baseURL: base) { configure(&$0) })
}

func expirations(duration: Duration) {
    let request = shop.get("feed", as: User.self)
    show(request.dataSource(.cacheElseServer, expiration: .minutes(10)))
    show(request.dataSource(.cacheElseServer, expiration: .hours(6)))
    show(request.dataSource(.cacheElseServer, expiration: .after(duration)))
    show(request.dataSource(.cacheElseServer, expiration: .days(1).inMemory(.minutes(0.5))))
}

func headerNames(headers: HTTPHeaders) {
    let names: [HTTPHeaderName] = [
        .acceptLanguage, .age, .cacheControl, .contentDisposition, .contentRange, .expires, .ifMatch, .ifModifiedSince,
        .ifNoneMatch, .ifRange, .lastModified, .link, .range, .retryAfter, .vary,
    ]
    for name in names { print(headers[name] ?? "") }
}

func statusOfAnOutcome(outcome: TransportOutcome) throws {
    if try outcome.get().status == .notFound { print(try outcome.get().status.rawValue) }
}

func elapsedOfARequest(request: ObservedRequest) {
    if request.elapsed > .seconds(1) { print(request.route) }
}

func jsonParts(user: User, encoder: JSONEncoder) {
    let form: MultipartForm = [
        .json(user, name: "user"), .json(["a": 1], name: "counts"), .json(user, name: "own", encoder: encoder),
        .json(user, name: "file", fileName: "user.json", contentType: "application/vnd.user+json"),
    ]
    show(shop.string.post("users").multipart(form))
}

func secondValueOfAHeader() {
    var headers: HTTPHeaders = ["Accept": "text/plain"]
    headers.append("Accept", "text/html")
    headers.append(.accept, "*/*")
    show(headers)
}

func cacheTagsOfTargets() {
    struct Feed: Target {
        var baseURL: String { base }
        var path: String { "feed" }
        var cacheTags: [String] { ["feed"] }
    }
    struct Prices: Target {
        var baseURL: String { base }
        var path: String { "prices" }
        var cacheTags: Set<String> = ["prices"]
    }
    enum Shop: Target {
        case user(Int), motto
        var baseURL: String { base }
        var path: String { "x" }
        var cacheTags: Set<String> {
            switch self {
            case .user(let id): ["user", "user-\(id)"]
            case .motto: []
            }
        }
    }
    show(Feed().cacheTags.count + Prices().cacheTags.count + Shop.motto.cacheTags.count)
}

func propertiesOfTargetsInOtherTypes() {
    enum Moya: Target {
        case user, list
        var baseURL: String { base }
        var path: String { "x" }
        var headers: [String: String]? { self == .user ? ["Accept": "text/plain"] : nil }
        var tags: [String] { ["public"] }
        var dataSource: DataSource { .cacheElseServer }
        var cacheExpiration: CacheExpiration { .hours(6) }
        var cacheTags: [String] { ["users"] }
    }
    struct Stored: Target {
        var baseURL = base
        var path = "x"
        var headers = ["Accept": "text/plain"]
        var tags = ["public"]
        var dataSource = DataSource.cache
        var cacheExpiration = CacheExpiration.never
    }
    struct Usual: Target {
        var baseURL: String { base }
        var path: String { "x" }
        var headers: HTTPHeaders { ["Accept": "text/plain", .eTag: "\"1\""] }
        var tags: Set<String> { ["public"] }
        var dataSource: DataSource? { nil }
        var cacheExpiration: CacheExpiration? { .days(1) }
    }
    struct Wrapper<Inner: Target>: Target {
        let inner: Inner
        var baseURL: String { inner.baseURL }
        var path: String { inner.path }
        var headers: HTTPHeaders { inner.headers }
        var tags: Set<String> { inner.tags }
    }
    show(shop.request(Moya.user, as: User.self))
    show(shop.request(Stored(), as: User.self))
    show(shop.request(Usual(), as: User.self))
    show(shop.request(Wrapper(inner: Usual()), as: User.self))
    show(Usual().headers["Accept"] ?? "")
    show(Moya.user.headers?["Accept"] ?? "")
}
