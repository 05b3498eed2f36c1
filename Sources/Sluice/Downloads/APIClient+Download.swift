import SluiceHTTP

extension APIClient {
    /// Creates a download request whose error type is inferred from the context.
    ///
    /// - Parameters:
    ///   - endpoint: A path appended to the base URL, or a whole URL in its place; a template; a target.
    ///   - destination: The place for the file.
    /// - Returns: A value to modify and send.
    public func download<ErrorModel: ErrorSerializable>(
        _ endpoint: some Endpoint,
        to destination: DownloadDestination
    ) -> DownloadAPIRequest<DownloadedFile, ErrorModel> {
        data.request(endpoint).download(to: destination)
    }

    /// Creates a download request that fails with an ``APIError``, for contexts that do not determine the error type.
    @_disfavoredOverload
    public func download(
        _ endpoint: some Endpoint,
        to destination: DownloadDestination
    ) -> DownloadAPIRequest<DownloadedFile, APIError> {
        data.request(endpoint).download(to: destination)
    }
}

extension APIRequest {
    /// Turns a request, which may have a body, into a download.
    ///
    /// - Parameter destination: The place for the file.
    /// - Returns: A request with the same method, parameters, body and error.
    public func download(to destination: DownloadDestination) -> DownloadAPIRequest<DownloadedFile, ErrorModel> {
        DownloadAPIRequest(
            client: client,
            draft: draft,
            destination: destination,
            serializer: DownloadedFileSerializer(),
            errorDecoder: errorDecoder
        )
    }
}
