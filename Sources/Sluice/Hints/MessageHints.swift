// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

import SluiceFoundation
import SluiceHTTP

// Names and arguments of other libraries, and those that people try first. None can be called: each says what to write.

extension HTTPHeaders {
    @available(*, unavailable, message: "Write \"HTTPHeaders(fields.map { (HTTPHeaderName($0), $1) })\".")
    public init(_ fields: [String: String]) { self.init() }
    @available(*, unavailable, message: "The name is a variable: write \"headers[HTTPHeaderName(name)]\".")
    public subscript(name: String) -> String? {
        get { nil }
        set {}
    }
    @available(*, unavailable, message: "The name is a variable: write \"append(HTTPHeaderName(name), value)\".")
    public mutating func append(_ name: String, _ value: String) {}
    @available(*, unavailable, message: "The name is a variable: write \"remove(HTTPHeaderName(name))\".")
    public mutating func remove(_ name: String) {}
    @available(*, unavailable, message: "The name is a variable: write \"contains(HTTPHeaderName(name))\".")
    public func contains(_ name: String) -> Bool { false }
    @available(*, unavailable, message: "The name is a variable: write \"values(for: HTTPHeaderName(name))\".")
    public func values(for name: String) -> [String] { [] }
    @available(*, unavailable, message: "Write the name first: \"append(\"Accept\", \"text/plain\")\".")
    public mutating func append(_ value: String, for name: HTTPHeaderName, _ hint: Void = ()) {}
    @available(*, unavailable, message: "Write the name first: \"append(\"Accept\", \"text/plain\")\".")
    public mutating func append(_ value: String, to name: HTTPHeaderName, _ hint: Void = ()) {}
    @available(*, unavailable, message: "Write \"append(\"Accept\", \"text/plain\")\", without labels.")
    public mutating func append(name: HTTPHeaderName, value: String, _ hint: Void = ()) {}
    @available(*, unavailable, message: "Write \"append(\"Accept\", \"text/plain\")\".")
    public mutating func add(name: HTTPHeaderName, value: String) {}
    @available(*, unavailable, message: "Write \"append(\"Accept\", \"text/plain\")\".")
    public mutating func add(_ name: HTTPHeaderName, _ value: String, _ hint: Void = ()) {}
    @available(*, unavailable, message: "Write the name first: \"append(\"Accept\", \"text/plain\")\".")
    public mutating func add(_ value: String, for name: HTTPHeaderName, _ hint: Void = ()) {}
    @available(*, unavailable, message: "Write \"headers[\"Accept\"] = \"text/plain\"\".")
    public mutating func replaceOrAdd(name: HTTPHeaderName, value: String) {}
    @available(*, unavailable, message: "Write \"headers[\"Accept\"] = \"text/plain\"\".")
    public mutating func set(_ name: HTTPHeaderName, _ value: String) {}
    @available(*, unavailable, message: "Write \"headers[\"Accept\"] = \"text/plain\"\".")
    public mutating func set(_ name: HTTPHeaderName, to value: String) {}
    @available(*, unavailable, message: "Write \"headers[\"Accept\"] = \"text/plain\"\".")
    public mutating func set(_ value: String, for name: HTTPHeaderName) {}
    @available(*, unavailable, message: "Write \"headers[\"Accept\"] = \"text/plain\"\".")
    public mutating func set(name: HTTPHeaderName, value: String) {}
    @available(*, unavailable, message: "Write \"headers[\"Accept\"]\", or \"values(for: \"Accept\")\" for all values.")
    public func first(name: HTTPHeaderName) -> String? { nil }
    @available(*, unavailable, message: "Write \"headers[\"Accept\"]\", or \"values(for: \"Accept\")\" for all values.")
    public func value(for name: HTTPHeaderName) -> String? { nil }
    @available(*, unavailable, message: "Read the links of the head: \"response.head?.links\".")
    public var links: LinkHeader { LinkHeader("") }
    @available(
        *,
        unavailable,
        message: "Give the client a \"BearerToken(token)\", or write \"headers[\"Authorization\"]\"."
    )
    public var authorization: String? {
        get { nil }
        set {}
    }
}

extension HTTPResponse {
    @available(*, unavailable, message: "Write \"status\", or \"status.rawValue\" for a number.")
    public var statusCode: Int { status.rawValue }
}

extension ServerResponse {
    @available(*, unavailable, message: "Write \"head.headers\".")
    public var headers: HTTPHeaders { head.headers }
    @available(*, unavailable, message: "Write \"head.links\".")
    public var links: LinkHeader { head.links }
    @available(*, unavailable, message: "Write \"status\", or \"status.rawValue\" for a number.")
    public var statusCode: Int { status.rawValue }
    @available(*, unavailable, message: "Write \"body\".")
    public var data: Data { body }
}

extension LinkHeader {
    @available(*, unavailable, message: "Read the links of the head: \"response.head?.links\".")
    public init(_ headers: HTTPHeaders) { self.init("") }
    @available(*, unavailable, message: "Read the links of the head: \"response.head?.links\".")
    public init(_ head: HTTPResponse) { self.init("") }
    @available(*, unavailable, message: "Write \"links[\"next\"]\".")
    public var next: WebLink? { self["next"] }
    @available(*, unavailable, message: "Write \"links[\"next\"]\".")
    public func first(_ relation: String) -> WebLink? { self[relation] }
}

extension WebLink {
    @available(*, unavailable, message: "Write \"target\", which may be relative to the URL of the response.")
    public var url: String { target }
    @available(*, unavailable, message: "Write \"target\", which may be relative to the URL of the response.")
    public var uri: String { target }
    @available(*, unavailable, message: "Write \"target\", which may be relative to the URL of the response.")
    public var href: String { target }
    @available(*, unavailable, message: "Write \"relations\": a link may have several.")
    public var relation: String { "" }
    @available(*, unavailable, message: "Write \"relations\": a link may have several.")
    public var rel: String { "" }
    @available(*, unavailable, message: "Read a parameter by its name: \"link[\"title\"]\".")
    public var parameters: [String: String] { [:] }
}

extension TransferProgress {
    @available(*, unavailable, message: "Write \"bytesPerSecond\".")
    public var speed: Double? { bytesPerSecond }
    @available(*, unavailable, message: "Write \"bytesPerSecond\".")
    public var throughput: Double? { bytesPerSecond }
    @available(*, unavailable, message: "Write \"completed\".")
    public var completedBytes: Int64 { completed }
    @available(*, unavailable, message: "Write \"completed\".")
    public var completedUnitCount: Int64 { completed }
    @available(*, unavailable, message: "Write \"total\", which is nil if it is unknown.")
    public var totalBytes: Int64? { total }
    @available(*, unavailable, message: "Write \"total\", which is nil if it is unknown.")
    public var totalUnitCount: Int64? { total }
    @available(*, unavailable, message: "Write \"fractionCompleted\", which is nil if the total is unknown.")
    public var fraction: Double? { fractionCompleted }
    @available(*, unavailable, message: "Write \"fractionCompleted\", from 0 to 1.")
    public var percent: Double? { fractionCompleted }
    @available(*, unavailable, message: "Write \"timeLeft\".")
    public var remaining: Duration? { timeLeft }
    @available(*, unavailable, message: "Write \"timeLeft\".")
    public var remainingTime: Duration? { timeLeft }
    @available(*, unavailable, message: "Write \"timeLeft\".")
    public var estimatedTimeRemaining: Duration? { timeLeft }
}

extension Duration {
    @available(*, unavailable, message: "A Duration has no minutes: write \".seconds(60)\".")
    public static func minutes(_ minutes: Double) -> Duration { .zero }
    @available(*, unavailable, message: "A Duration has no hours: write \".seconds(3600)\".")
    public static func hours(_ hours: Double) -> Duration { .zero }
    @available(*, unavailable, message: "A Duration has no days: write \".seconds(86_400)\".")
    public static func days(_ days: Double) -> Duration { .zero }
}

extension TLSFailure.Check {
    @available(*, unavailable, message: "Write \".expired\".")
    public static var expiry: Self { .expired }
    @available(*, unavailable, message: "Write \".expired\" or \".notYetValid\".")
    public static var validity: Self { .expired }
    @available(*, unavailable, message: "Write \".hostName\".")
    public static var hostname: Self { .hostName }
    @available(*, unavailable, message: "Write \".authority\" or \".selfSigned\".")
    public static var trust: Self { .authority }
}

extension HTTPVersion {
    @available(*, unavailable, message: "Write \".http1_1\".")
    public static var http1: Self { .http1_1 }
}

extension HTTPHeaderName {
    @available(*, unavailable, message: "Names are equal in any case. Write \"rawValue\" for the text.")
    public func lowercased() -> String { rawValue }
}

extension CookieJar {
    @available(*, unavailable, message: "Write \"await jar.cookies.filter { $0.domain == \"shop.example\" }\".")
    public func cookies(for url: String) -> [Cookie] { [] }
    @available(*, unavailable, message: "Write \"await jar.cookies.filter { $0.domain == \"shop.example\" }\".")
    public func cookies(for url: URL) -> [Cookie] { [] }
    @available(*, unavailable, message: "Write \"await jar.cookies\".")
    public var all: [Cookie] { [] }
    @available(*, unavailable, message: "Write \"try await jar.set(cookie)\".")
    public func store(_ cookie: Cookie) {}
    @available(*, unavailable, message: "Write \"try await jar.set(cookie)\".")
    public func add(_ cookie: Cookie) {}
    @available(*, unavailable, message: "Write \"await jar.removeAll()\".")
    public func clear() {}
}
