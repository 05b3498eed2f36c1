/// Who forwards requests in the client's stead.
///
/// ```swift
/// $0.connection.proxy = .http("proxy.example:3128", user: "ada", password: password)
/// ```
///
/// What goes by https goes through a tunnel (RFC 9110 §9.3.6) that the proxy cannot look into.
public struct Proxy: Sendable, Hashable {
    package enum Scheme: String, Sendable, Hashable {
        case http, https, socks4, socks4a, socks5, socks5h
    }

    /// Credentials, which are shown in no description.
    package struct Credentials: Sendable, Hashable, CustomStringConvertible, CustomReflectable {
        package let user: String
        package let password: String

        package var description: String { "credentials of “\(user)”" }
        package var customMirror: Mirror { Mirror(self, children: ["user": user]) }
    }

    package let scheme: Scheme
    /// Host and, if it is not the usual one, port.
    package let authority: String
    package let credentials: Credentials?

    package init(_ scheme: Scheme, _ authority: String, _ credentials: Credentials?) {
        self.scheme = scheme
        self.authority = authority
        self.credentials = credentials
    }
}
