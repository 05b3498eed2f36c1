import SluiceHTTP

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension UploadMethod where Door == CodableRequests {
    /// Uploads a file; the context names model and error.
    ///
    /// - Parameters:
    ///   - endpoint: A path appended to the base URL, or a whole URL in its place; a template; a target.
    ///   - file: Where it is.
    ///   - contentType: Its media type; nil for the one its extension stands for.
    ///   - model: The model, where the context does not name it.
    /// - Returns: A POST to modify and send.
    public func callAsFunction<Model: Decodable & Sendable, ErrorModel: ErrorSerializable>(
        _ endpoint: some Endpoint,
        fromFile file: URL,
        contentType: String? = nil,
        as model: Model.Type = Model.self
    ) -> APIRequest<Model, ErrorModel> {
        request(door.request(endpoint), .file(file, contentType: contentType))
    }

    /// Uploads a file and fails with an ``APIError``, for where the context names no error.
    @_disfavoredOverload
    public func callAsFunction<Model: Decodable & Sendable>(
        _ endpoint: some Endpoint,
        fromFile file: URL,
        contentType: String? = nil,
        as model: Model.Type = Model.self
    ) -> APIRequest<Model, APIError> {
        request(door.request(endpoint), .file(file, contentType: contentType))
    }

    /// Uploads bytes; the context names model and error.
    ///
    /// - Parameters:
    ///   - endpoint: A path appended to the base URL, or a whole URL in its place; a template; a target.
    ///   - data: The body.
    ///   - contentType: The `Content-Type`, unless a header says another.
    ///   - model: The model, where the context does not name it.
    /// - Returns: A POST to modify and send.
    public func callAsFunction<Model: Decodable & Sendable, ErrorModel: ErrorSerializable>(
        _ endpoint: some Endpoint,
        from data: Data,
        contentType: String = MediaType.octetStream,
        as model: Model.Type = Model.self
    ) -> APIRequest<Model, ErrorModel> {
        request(door.request(endpoint), .bytes(.data(data), contentType: contentType))
    }

    /// Uploads bytes and fails with an ``APIError``, for where the context names no error.
    @_disfavoredOverload
    public func callAsFunction<Model: Decodable & Sendable>(
        _ endpoint: some Endpoint,
        from data: Data,
        contentType: String = MediaType.octetStream,
        as model: Model.Type = Model.self
    ) -> APIRequest<Model, APIError> {
        request(door.request(endpoint), .bytes(.data(data), contentType: contentType))
    }

    /// Uploads chunks; the context names model and error.
    ///
    /// - Parameters:
    ///   - endpoint: A path appended to the base URL, or a whole URL in its place; a template; a target.
    ///   - chunks: The body in pieces of any size, read no faster than the network takes them; an error fails the request.
    ///   - length: The exact number of bytes in all. Without it HTTP/1.1 sends the body chunked.
    ///   - isReplayable: Whether a new iterator begins again at the first byte, for a retry or a redirect.
    ///   - contentType: The `Content-Type`, unless a header says another.
    ///   - model: The model, where the context does not name it.
    /// - Returns: A POST to modify and send.
    public func callAsFunction<
        Chunks: AsyncSequence & Sendable,
        Model: Decodable & Sendable,
        ErrorModel: ErrorSerializable
    >(
        _ endpoint: some Endpoint,
        from chunks: Chunks,
        length: Int64? = nil,
        isReplayable: Bool = false,
        contentType: String = MediaType.octetStream,
        as model: Model.Type = Model.self
    ) -> APIRequest<Model, ErrorModel> where Chunks.Element == Data {
        request(
            door.request(endpoint),
            .bytes(.stream(chunks, length: length, isReplayable: isReplayable), contentType: contentType)
        )
    }

    /// Uploads chunks and fails with an ``APIError``, for where the context names no error.
    @_disfavoredOverload
    public func callAsFunction<Chunks: AsyncSequence & Sendable, Model: Decodable & Sendable>(
        _ endpoint: some Endpoint,
        from chunks: Chunks,
        length: Int64? = nil,
        isReplayable: Bool = false,
        contentType: String = MediaType.octetStream,
        as model: Model.Type = Model.self
    ) -> APIRequest<Model, APIError> where Chunks.Element == Data {
        request(
            door.request(endpoint),
            .bytes(.stream(chunks, length: length, isReplayable: isReplayable), contentType: contentType)
        )
    }

    /// Uploads the parts of a form; the context names model and error.
    ///
    /// - Parameters:
    ///   - endpoint: A path appended to the base URL, or a whole URL in its place; a template; a target.
    ///   - form: Fields, files and streams, read while they are sent.
    ///   - model: The model, where the context does not name it.
    /// - Returns: A POST to modify and send.
    public func callAsFunction<Model: Decodable & Sendable, ErrorModel: ErrorSerializable>(
        _ endpoint: some Endpoint,
        multipart form: MultipartForm,
        as model: Model.Type = Model.self
    ) -> APIRequest<Model, ErrorModel> {
        request(door.request(endpoint), .multipart(form))
    }

    /// Uploads the parts of a form and fails with an ``APIError``, for where the context names no error.
    @_disfavoredOverload
    public func callAsFunction<Model: Decodable & Sendable>(
        _ endpoint: some Endpoint,
        multipart form: MultipartForm,
        as model: Model.Type = Model.self
    ) -> APIRequest<Model, APIError> {
        request(door.request(endpoint), .multipart(form))
    }
}
