import SluiceHTTP

extension APIClient {
    /// Makes a request whose response goes into a file, and whose error the context names.
    ///
    /// - Parameters:
    ///   - endpoint: A path appended to the base URL, or a whole URL in its place; a template; a target.
    ///   - destination: Where the file will be.
    /// - Returns: A value to modify and send.
    public func download<ErrorModel: ErrorSerializable>(
        _ endpoint: some Endpoint,
        to destination: DownloadDestination
    ) -> DownloadAPIRequest<DownloadedFile, ErrorModel> {
        data.request(endpoint).download(to: destination)
    }

    /// Makes a download that fails with an ``APIError``, for where the context names no error.
    @_disfavoredOverload
    public func download(
        _ endpoint: some Endpoint,
        to destination: DownloadDestination
    ) -> DownloadAPIRequest<DownloadedFile, APIError> {
        data.request(endpoint).download(to: destination)
    }
}

extension APIRequest {
    /// Makes a download of a request, which may have a body.
    ///
    /// - Parameter destination: Where the file will be.
    /// - Returns: A request by the same method, with the same parameters, body and error.
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
