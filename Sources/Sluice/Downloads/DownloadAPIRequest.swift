import Dispatch
import SluiceFoundation
import SluiceHTTP

/// A request whose response is written to a file.
///
/// ```swift
/// let archive: DownloadAPIRequest<DownloadedFile, GitHubError> = github.download("archive.tar.gz", to: .suggested(in: downloads))
/// let url = try await archive.sha256(checksum).sender().responseURL
/// ```
///
/// The bytes are written to a hidden file next to the destination, which is renamed when it is complete. Readers of the
/// final name therefore see the whole file or none. An interrupted transfer resumes where it stopped: within one send,
/// after a failure or a cancellation, and in another process. This requires a server that supports ranges (RFC 9110
/// §14) and sends a strong validator, and a resource that has not changed. Otherwise the download starts again.
///
/// The client's limits on the whole body, ``ResponseLimits/body`` and ``Timeouts/total``, do not apply to downloads,
/// except to the body of a response that is not accepted. Those that the request sets itself do, and with
/// ``APIClient/Configuration/limitsDownloadTime`` also the client's ``Timeouts/total``.
public struct DownloadAPIRequest<Model: Sendable, ErrorModel: ErrorSerializable>: ModifiableRequest {
    /// The client that sends the request.
    public let client: APIClient
    /// The contents and options of the request, without its types.
    public var draft: RequestDraft
    let destination: DownloadDestination
    var options = DownloadOptions()
    let serializer: any DownloadSerializer<Model>
    /// The decoder of the request that was turned into this download; nil for the client's.
    var modelDecoder: SharedDecoder?
    let errorDecoder: (any DataDecoder)?
    /// Nil for the initializer of the error model.
    var errorSerializer: (@Sendable (RequestFailure) -> ErrorModel)?

    /// Creates a sender, which sends the request once, when its outcome is first read.
    public func sender() -> DownloadRequestSender<Model, ErrorModel> {
        DownloadRequestSender(self)
    }

    /// Removes the partial file that an earlier send of this download has left. Does nothing if there is none, or if a
    /// sender is using it.
    ///
    /// - Throws: The request's error model if the request cannot be built or the folder cannot be used.
    public func discardPartialFile() async throws(ErrorModel) {
        do throws(SluiceError) {
            let pipeline = client.pipeline
            let key = DownloadKey(of: try draft.build(for: pipeline), draft, pipeline.configuration)
            guard key.isRepeatable else { return }
            // An existing file with the final name is not an error here.
            let destination = DownloadDestination(
                target: self.destination.target,
                conflict: .overwrite,
                createsDirectories: false
            )
            try await PartialDownload.discard(key: key.text, destination: destination)
        } catch {
            throw errorModel(RequestFailure(error: error))
        }
    }

    func errorModel(_ failure: RequestFailure) -> ErrorModel { errorSerializer?(failure) ?? ErrorModel(failure) }

    func serialized<Other>(by serializer: some DownloadSerializer<Other>) -> DownloadAPIRequest<Other, ErrorModel> {
        DownloadAPIRequest<Other, ErrorModel>(
            client: client,
            draft: draft,
            destination: destination,
            options: options,
            serializer: serializer,
            modelDecoder: modelDecoder,
            errorDecoder: errorDecoder,
            errorSerializer: errorSerializer
        )
    }

    /// Converts the file into a model by a closure.
    ///
    /// ```swift
    /// let rows: Int = try await shop.download("orders.csv", to: .temporary)
    ///     .serialized { file, _ in try CSV(at: file.url).rows.count }
    ///     .sender().value
    /// ```
    ///
    /// - Parameter serialize: Called with the file at its destination and the last response, without its body. Any
    ///   error it throws fails the request, with ``SluiceError/Code/decodingFailed`` unless it is a ``SluiceError``.
    /// - Returns: The request with that model.
    public func serialized<Other: Sendable>(
        by serialize: @escaping @Sendable (DownloadedFile, ServerResponse) async throws -> Other
    ) -> DownloadAPIRequest<Other, ErrorModel> {
        serialized(by: FileClosureSerializer(serialize: serialize))
    }

    /// Decodes the file as the body of a response: with the decoder of the request that was turned into this download,
    /// or the client's, and with the ``Envelope`` and key path that apply. The whole file is read into memory.
    ///
    /// - Parameter model: The model type, if the context does not determine it.
    /// - Returns: The request with that model.
    public func decoded<Other: Decodable & Sendable>(
        as model: Other.Type = Other.self
    ) -> DownloadAPIRequest<Other, ErrorModel> {
        serialized(by: DecodableFileSerializer(decoder: modelDecoder ?? client.pipeline.modelDecoder))
    }
}

extension DownloadAPIRequest {
    /// Verifies the SHA-256 of the file.
    ///
    /// - Parameter digest: 64 hexadecimal digits of either case. A file with another digest is removed, and the request
    ///   fails with ``SluiceError/Code/checksumMismatch``. A text that is not a SHA-256 fails it with
    ///   ``SluiceError/Code/invalidChecksum``.
    /// - Returns: A copy that verifies the digest.
    public consuming func sha256(_ digest: String) -> Self {
        options.sha256 = digest
        return self
    }

    /// Requires this length in bytes. Another length fails the request with ``SluiceError/Code/lengthMismatch``.
    public consuming func expectedLength(_ length: Int64) -> Self {
        options.length = length
        return self
    }

    /// Splits a large file into segments that are transferred in parallel, if the server supports ranges and sends a
    /// strong validator. The file of a request that is not idempotent is not split.
    ///
    /// - Parameters:
    ///   - count: The maximum number of transfers. At most 256. The default of a download is 1, which does not split the file.
    ///   - minimum: The minimum length of a segment, in bytes; 8 MiB by default. Ranges shorter than twice this are not
    ///     split.
    /// - Returns: A copy that uses segments.
    public consuming func segments(_ count: Int, ofAtLeast minimum: Int64 = 8 << 20) -> Self {
        options.segments = min(max(1, count), 256)
        options.minimumSegment = max(1, minimum)
        return self
    }

    /// Sets the number of consecutive interruptions without progress after which the download fails; 5 by default.
    /// After an attempt with progress, the transfer resumes at once. Otherwise it backs off. It also backs off if a
    /// server that ignores `Range` (RFC 9110 §14.2) sends the same bytes again, and after more than ten consecutive
    /// attempts of less than 64 KiB. Requests that are not idempotent do not resume.
    public consuming func maximumResumptions(_ count: Int) -> Self {
        options.maximumResumptions = max(0, count)
        return self
    }
}

// MARK: - Options

/// The options of a download, and the requirements on its file.
struct DownloadOptions: Sendable {
    /// The maximum number of parallel transfers.
    var segments = 1
    /// The minimum length of a segment, in bytes.
    var minimumSegment: Int64 = 8 << 20
    /// The number of consecutive interruptions without progress after which the download fails.
    var maximumResumptions = 5
    /// The required SHA-256, in hexadecimal digits; nil to accept any file.
    var sha256: String?
    var length: Int64?

    /// Checks that the required SHA-256 is well-formed.
    func validate() throws(SluiceError) {
        guard let sha256 else { return }
        guard sha256.utf8.count == 64, sha256.allSatisfy(\.isHexDigit), sha256.utf8.allSatisfy({ $0 < 0x80 }) else {
            throw SluiceError(
                .invalidChecksum,
                "The SHA-256 checksum is not valid. It must have 64 hexadecimal digits.",
                step: .building
            )
        }
    }
}

extension SluiceError.Code {
    /// The required SHA-256 of a download is malformed.
    public static let invalidChecksum = Self("invalidChecksum")
}

// MARK: - Creation from a client or a request

extension APIClient {
    /// Creates a download request that fails with an ``APIError``.
    ///
    /// - Parameters:
    ///   - endpoint: A path appended to the base URL, or a whole URL in its place; a template; a target.
    ///   - destination: The destination of the file.
    /// - Returns: A value to modify and send.
    public func download(
        _ endpoint: some Endpoint,
        to destination: DownloadDestination
    ) -> DownloadAPIRequest<DownloadedFile, APIError> {
        data.request(endpoint).download(to: destination)
    }

    /// Creates a download request with the error model that the context determines.
    @_disfavoredOverload
    public func download<ErrorModel: ErrorSerializable>(
        _ endpoint: some Endpoint,
        to destination: DownloadDestination,
        error: ErrorModel.Type = ErrorModel.self
    ) -> DownloadAPIRequest<DownloadedFile, ErrorModel> {
        data.request(endpoint).download(to: destination)
    }
}

extension APIRequest {
    /// Turns a request, which may have a body, into a download.
    ///
    /// - Parameter destination: The destination of the file.
    /// - Returns: A request with the same method, parameters, body and error.
    public func download(to destination: DownloadDestination) -> DownloadAPIRequest<DownloadedFile, ErrorModel> {
        DownloadAPIRequest(
            client: client,
            draft: draft,
            destination: destination,
            serializer: DownloadedFileSerializer(),
            modelDecoder: (serializer as? any DecodingSerializer)?.decoder,
            errorDecoder: errorDecoder,
            errorSerializer: errorSerializer
        )
    }
}

extension BodyRequest {
    /// Turns the request, without a body, into a download.
    public func download(to destination: DownloadDestination) -> DownloadAPIRequest<DownloadedFile, ErrorModel> {
        request.download(to: destination)
    }
}

extension DownloadAPIRequest: CustomStringConvertible, CustomReflectable, RedactedMirror {}

extension DownloadAPIRequest {
    /// Sends the request and calls back with the response. For code that is not async.
    ///
    /// - Parameters:
    ///   - queue: The queue of the callback. Nil, the default, for any thread; the callback must not block it.
    ///   - completion: Called once with the response, also for a cancelled request.
    /// - Returns: The sender, which cancels the request and reports its progress. It need not be retained.
    @_disfavoredOverload
    @discardableResult
    public func send(
        on queue: DispatchQueue? = nil,
        completion: @escaping @Sendable (DownloadResponse<Model, ErrorModel>) -> Void
    ) -> DownloadRequestSender<Model, ErrorModel> {
        let sender = sender()
        sender.start(on: queue, completion: completion)
        return sender
    }

    /// Sends the request and calls back with the response on the main actor.
    @discardableResult
    public func send(
        on queue: MainQueue,
        completion: @escaping @MainActor @Sendable (DownloadResponse<Model, ErrorModel>) -> Void
    ) -> DownloadRequestSender<Model, ErrorModel> {
        let sender = sender()
        sender.start(on: queue, completion: completion)
        return sender
    }
}
