import SluiceHTTP

extension ModifiableRequest {
    /// Takes another base URL than the client's.
    public consuming func baseURL(_ url: String) -> Self { modified { $0.baseURL = url } }

    /// Sends to another host than the URL's, a content delivery network's for example; path and query stay.
    ///
    /// - Parameter host: `cdn.example.com`, `[::1]:8080`, or with another scheme, `http://cdn.example.com`; nil for the
    ///   URL's own.
    /// - Returns: A copy that goes to that host.
    public consuming func host(_ host: String?) -> Self { modified { $0.host = host } }

    /// Makes the URL of base URL and path in another way than the client's.
    public consuming func urlBuilder(_ builder: URLBuilder) -> Self { modified { $0.urlBuilder = builder } }

    /// Sets what answers the request in the server's place.
    ///
    /// ```swift
    /// let request = client.codable.get("users/1", as: User.self).stub(.json(#"{"id":1}"#), mode: .immediate)
    /// ```
    ///
    /// - Parameters:
    ///   - stub: The answer; nil for the client's.
    ///   - mode: Whether and when it answers; nil for ``APIClient/Configuration/stubMode``.
    /// - Returns: A copy with that stub.
    public consuming func stub(_ stub: Stub?, mode: StubMode? = nil) -> Self {
        modified { draft in
            draft.options.stub = stub
            if let mode { draft.options.stubMode = mode }
        }
    }

    /// Sets whether and when the request's stub answers it, in place of what the client says.
    public consuming func stubMode(_ mode: StubMode) -> Self { modified { $0.options.stubMode = mode } }

    /// Sets which networks may carry the request.
    public consuming func networkAccess(_ access: NetworkAccess) -> Self { modified { $0.networkAccess = access } }
}
