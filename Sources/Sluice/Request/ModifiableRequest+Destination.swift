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

    /// Sets what the server would answer, for a client with ``APIClient/Configuration/answersWithSamples``.
    public consuming func sampleResponse(_ sample: SampleResponse?) -> Self { modified { $0.sampleResponse = sample } }

    /// Sets which networks may carry the request.
    public consuming func networkAccess(_ access: NetworkAccess) -> Self { modified { $0.networkAccess = access } }
}
