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
    /// The metrics of the last transfer; nil if no response was received.
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
        let configuration = request.client.pipeline.configuration
        let named = error.naming(request.draft, of: request.client)
        let failure = RequestFailure(
            error: named,
            body: response?.body ?? Data(),
            decoder: request.errorDecoder ?? configuration.errorDecoder,
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

extension DownloadResponse: CustomReflectable {
    /// Everything but the contents of the body and the model, which may hold secrets. `dump(response.result)` shows
    /// them.
    public var customMirror: Mirror {
        Mirror(
            self,
            children: [
                "request": request as Any, "head": head as Any, "file": file as Any, "body": body.summary,
                "trailers": trailers, "result": result.summary, "failure": failure as Any,
            ],
            displayStyle: .struct
        )
    }
}
