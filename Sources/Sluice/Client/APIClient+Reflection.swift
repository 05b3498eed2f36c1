import SluiceHTTP

extension APIClient: CustomStringConvertible, CustomReflectable {
    /// Where it sends requests to, without secrets.
    public var description: String {
        pipeline.baseURL.isEmpty
            ? "a client without base URL" : "a client of \(SecretRules.usual.url(pipeline.baseURL))"
    }

    /// What `dump` shows: the base URL without secrets. For the rest there is ``configuration``.
    public var customMirror: Mirror {
        Mirror(self, children: ["baseURL": SecretRules.usual.url(pipeline.baseURL)], displayStyle: .struct)
    }
}
