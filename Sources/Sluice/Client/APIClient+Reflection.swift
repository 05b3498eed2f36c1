import SluiceHTTP

extension APIClient: CustomStringConvertible, CustomReflectable {
    /// The client's base URL, without secrets.
    public var description: String {
        pipeline.baseURL.isEmpty
            ? "a client without base URL" : "a client of \(SecretRules.usual.url(pipeline.baseURL))"
    }

    /// The children that `dump` shows: only the base URL, without secrets. ``configuration`` has everything else.
    public var customMirror: Mirror {
        Mirror(self, children: ["baseURL": SecretRules.usual.url(pipeline.baseURL)], displayStyle: .struct)
    }
}
