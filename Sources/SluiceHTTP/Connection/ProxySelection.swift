/// By which proxy a request goes.
public struct ProxySelection: Sendable {
    package enum Form: Sendable {
        case none
        case environment
        case always(Proxy)
    }

    package let form: Form

    /// None: every request goes straight to its server.
    public static let none = ProxySelection(form: .none)
}
