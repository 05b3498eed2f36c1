import SluiceHTTP

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// What a server would answer, for tests and previews that have none.
///
/// A client with ``APIClient/Configuration/answersWithSamples`` answers with it in the transport's place; all other steps of
/// the pipeline run as ever.
public struct SampleResponse: Sendable {
    /// The status; 200 by default.
    public var status: HTTPStatus
    /// The header fields.
    public var headers: HTTPHeaders
    /// The body.
    public var body: Data

    /// Makes a sample of bytes.
    public init(status: HTTPStatus = .ok, headers: HTTPHeaders = [:], body: Data = Data()) {
        self.status = status
        self.headers = headers
        self.body = body
    }

    /// Makes a sample of a JSON text, not looked at.
    public static func json(_ text: String, status: HTTPStatus = .ok) -> SampleResponse {
        SampleResponse(status: status, headers: ["Content-Type": "application/json"], body: Data(text.utf8))
    }
}

/// Answers every request with the same sample.
struct SampleTransport: Transport {
    let sample: SampleResponse

    func send(_ request: HTTPRequest, context: TransferContext) async throws(SluiceError) -> TransportResponse {
        try request.validate()
        return TransportResponse(
            head: HTTPResponse(status: sample.status, headers: sample.headers),
            body: ResponseBody(sample.body)
        )
    }
}
