import SluiceFoundation
import SluiceHTTP

/// The complete outcome of a download.
public struct DownloadResponse<Model: Sendable, ErrorModel: ErrorSerializable>: Sendable {
    /// The last request as it was sent; nil if none was sent.
    public let request: HTTPRequest?
    /// Status, headers and version of the last response; nil if none was received. The status is 206 if a range was
    /// requested.
    public let head: HTTPResponse?
    /// The file; nil on failure.
    public let file: DownloadedFile?
    /// The body of a response that was not written to the file; empty if there was none.
    public let body: Data
    /// The trailer section of the last response (RFC 9110 §6.5); empty if there was none.
    public let trailers: HTTPHeaders
    /// The metrics of the last transfer; nil if no response was received, or if it failed before its end.
    public let metrics: TransferMetrics?
    /// The model or the error.
    public let result: Result<Model, ErrorModel>
    /// The underlying error; nil on success.
    public let failure: SluiceError?
}

extension DownloadResponse {
    /// Creates the response of a finished download, and converts its file into the model.
    init(_ outcome: Download.Outcome, to request: DownloadAPIRequest<Model, ErrorModel>) async {
        let file: DownloadedFile
        switch outcome.result {
        case .success(let success): file = success
        case .failure(let error):
            self.init(failure: error, of: request, outcome.response)
            return
        }
        guard let response = outcome.response else {
            self.init(failure: .noResponse, of: request)
            return
        }
        do {
            let model = try await request.model(from: file, response)
            self.init(
                request: response.request,
                head: response.head,
                file: file,
                body: Data(),
                trailers: response.trailers,
                metrics: response.metrics,
                result: .success(model),
                failure: nil
            )
        } catch {
            let failure = (error as? SluiceError) ?? .cannotDecode(file, error)
            let error = failure.with(request: response.request, response: response.head)
            self.init(failure: error, of: request, response, file)
        }
    }

    /// Creates a response that carries a failure, and builds the error model from it.
    init(
        failure error: SluiceError,
        of request: DownloadAPIRequest<Model, ErrorModel>,
        _ response: ServerResponse? = nil,
        _ file: DownloadedFile? = nil
    ) {
        let response = response ?? error.replacedResponse
        let configuration = request.client.pipeline.configuration
        let named = error.withoutReplacedResponse.naming(request.draft, of: request.client)
        let failure = RequestFailure(
            error: named,
            body: response?.body ?? Data(),
            decoder: request.errorDecoder ?? configuration.errorDecoder ?? configuration.modelDecoder,
            envelope: request.draft.modelLocation.envelope(orOf: configuration.envelope),
            fileURL: file?.url
        )
        self.init(
            request: error.request,
            head: error.response,
            file: file,
            body: failure.body,
            trailers: response?.trailers ?? [:],
            metrics: response?.metrics,
            result: .failure(request.errorModel(failure)),
            failure: named
        )
    }
}

extension SluiceError {
    static var noResponse: SluiceError { SluiceError(.internalFailure, "There is no response.") }

    fileprivate static func cannotDecode(_ file: DownloadedFile, _ error: any Error) -> SluiceError {
        SluiceError(
            .decodingFailed,
            "The file “\(file.url.path)” could not be decoded as the model.",
            step: .serialization,
            underlyingError: error
        )
    }
}

extension DownloadResponse: CustomReflectable, RedactedMirror {
    /// Everything but the contents of the body and the model, which may hold secrets. `dump(response.result)` shows
    /// them.
    package var shown: [Mirror.Child] {
        [
            ("request", request as Any), ("head", head as Any), ("file", file as Any), ("body", body.summary),
            ("trailers", trailers), ("result", result.summary), ("failure", failure as Any),
        ]
    }
}

// MARK: - Downloaded file

/// A complete download at its destination.
public struct DownloadedFile: Sendable, Hashable {
    /// The URL of the file. With ``DownloadDestination/Conflict/keepBoth`` the name may have a number added.
    public let url: URL
    /// The length in bytes.
    public let length: Int64
    /// The number of bytes that came from an earlier send.
    public let resumedBytes: Int64
    /// The SHA-256 of the file in 64 hexadecimal digits, if it was verified; nil otherwise.
    public let sha256: String?

    /// Creates a value.
    ///
    /// - Parameters:
    ///   - url: The URL of the file.
    ///   - length: The length in bytes.
    ///   - resumedBytes: The number of bytes that came from an earlier send.
    ///   - sha256: The SHA-256 in hexadecimal digits.
    public init(url: URL, length: Int64, resumedBytes: Int64 = 0, sha256: String? = nil) {
        self.url = url
        self.length = length
        self.resumedBytes = resumedBytes
        self.sha256 = sha256
    }
}

// MARK: - Conversion into a model

/// Converts a downloaded file into a model.
protocol DownloadSerializer<Model>: Sendable {
    associatedtype Model: Sendable

    /// True if a closure of the program receives the file, and may keep its URL.
    var passesFile: Bool { get }

    /// Creates the model. The file is complete and at its destination, and stays there even if this throws.
    ///
    /// - Parameters:
    ///   - file: The file.
    ///   - response: The last response, without its body.
    /// - Returns: The model.
    /// - Throws: Any error. A ``SluiceError`` fails the request as it is, any other with
    ///   ``SluiceError/Code/decodingFailed``.
    func model(from file: DownloadedFile, response: ServerResponse) async throws -> Model
}

/// Returns the file itself as the model.
struct DownloadedFileSerializer: DownloadSerializer {
    let passesFile = false

    func model(from file: DownloadedFile, response: ServerResponse) -> DownloadedFile { file }
}

/// Converts the file by a closure.
struct FileClosureSerializer<Model: Sendable>: DownloadSerializer {
    let serialize: @Sendable (DownloadedFile, ServerResponse) async throws -> Model
    let passesFile = true

    func model(from file: DownloadedFile, response: ServerResponse) async throws -> Model {
        try await serialize(file, response)
    }
}

/// A serializer that reads the file as the body of a response, and extracts the part that contains the model.
protocol FileBodyDecoding<Model>: DownloadSerializer {
    var serializer: any ResponseSerializer<Model> { get }
}

/// Decodes the file in memory, as a response body is decoded.
struct DecodableFileSerializer<Model: Decodable & Sendable>: FileBodyDecoding {
    let decoder: SharedDecoder
    let passesFile = false

    var serializer: any ResponseSerializer<Model> { CodableSerializer<Model>(decoder) }

    func model(from file: DownloadedFile, response: ServerResponse) async throws -> Model {
        try serializer.serialize(try await response.with(contentsOf: file))
    }
}

extension DownloadAPIRequest {
    /// Creates the model of a complete file.
    func model(from file: DownloadedFile, _ response: ServerResponse) async throws -> Model {
        guard let decoding = serializer as? any FileBodyDecoding<Model> else {
            return try await serializer.model(from: file, response: response)
        }
        return try draft.modelLocation.model(
            in: try await response.with(contentsOf: file),
            client.pipeline.configuration.envelope,
            by: decoding.serializer
        )
    }
}

extension ServerResponse {
    /// Returns a copy whose body is the contents of a file.
    fileprivate func with(contentsOf file: DownloadedFile) async throws -> ServerResponse {
        let reader = try await FileReader.open(file.url)
        var response = self
        response.body = Data()
        while let piece = try await reader.read() { response.body.append(piece) }
        return response
    }
}
