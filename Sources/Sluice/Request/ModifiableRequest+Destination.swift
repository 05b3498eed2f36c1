import SluiceHTTP

extension ModifiableRequest {
    /// Replaces the client's base URL.
    public consuming func baseURL(_ url: String) -> Self { modified { $0.baseURL = url } }

    /// Replaces the host of the URL, for example by a content delivery network's. Path and query stay the same.
    ///
    /// - Parameter host: `cdn.example.com`, `[::1]:8080`, or with another scheme,
    ///   `http://cdn.example.com`; nil for the URL's own.
    /// - Returns: A copy with that host.
    public consuming func host(_ host: String?) -> Self { modified { $0.host = host } }

    /// Replaces the client's rule for combining base URL and path.
    public consuming func urlBuilder(_ builder: URLBuilder) -> Self { modified { $0.urlBuilder = builder } }

    /// Sets the stub that answers the request instead of the server.
    ///
    /// ```swift
    /// let request = client.codable.get("users/1", as: User.self).stub(.json(#"{"id":1}"#), mode: .immediate)
    /// ```
    ///
    /// - Parameters:
    ///   - stub: The stub; nil for the client's.
    ///   - mode: The rule by which the stub answers; nil for ``APIClient/Configuration/stubMode``.
    /// - Returns: A copy with that stub.
    public consuming func stub(_ stub: Stub?, mode: StubMode? = nil) -> Self {
        modified { draft in
            draft.options.stub = stub
            if let mode { draft.options.stubMode = mode }
        }
    }

    /// Replaces the client's rule by which stubs answer.
    public consuming func stubMode(_ mode: StubMode) -> Self { modified { $0.options.stubMode = mode } }

    /// Sets the networks that can carry the request.
    public consuming func networkAccess(_ access: NetworkAccess) -> Self { modified { $0.networkAccess = access } }
}
