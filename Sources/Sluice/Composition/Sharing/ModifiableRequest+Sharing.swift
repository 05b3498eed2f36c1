extension ModifiableRequest {
    /// Has the request share a transfer with an equal one that is under way, in place of the client's
    /// ``APIClient/Configuration/sharing``.
    ///
    /// ```swift
    /// let report = client.codable.post("reports").json(query).shared()
    /// ```
    ///
    /// Both must say so, or their client.
    ///
    /// - Parameter sharing: Whether, and by which headers; whatever the method by default. ``RequestSharing/none`` has it sent by itself.
    /// - Returns: A copy that shares.
    public consuming func shared(_ sharing: RequestSharing = .allMethods) -> Self {
        modified { $0.options.sharing = sharing }
    }
}
