extension ModifiableRequest {
    /// Lets the request share a transfer with an equal one that is in progress. Overrides the client's
    /// ``APIClient/Configuration/sharing``.
    ///
    /// ```swift
    /// let report = client.codable.post("reports").json(query).shared()
    /// ```
    ///
    /// Both requests must allow sharing, by this option or by their client's.
    ///
    /// - Parameter sharing: The methods that share and the headers to compare; all methods by default.
    ///   ``RequestSharing/none`` sends the request on its own.
    /// - Returns: A copy that shares.
    public consuming func shared(_ sharing: RequestSharing = .allMethods) -> Self {
        modified { $0.options.sharing = sharing }
    }
}
