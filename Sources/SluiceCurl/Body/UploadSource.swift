#if os(Linux)
#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif
import SluiceHTTP

/// A request's body made ready to send: opened, and its length known where it can be.
enum UploadSource: Sendable {
    case none
    case data(Data)
    case stream(HTTPBody.Stream, length: Int64?)

    /// Opens a file, so that one that is missing fails before anything is sent.
    static func open(_ body: HTTPBody) async throws(SluiceError) -> UploadSource {
        switch body.source {
        case .none:
            return .none
        case .data(let data):
            return .data(data)
        case .stream(let stream):
            return .stream(stream, length: body.length)
        case .file(let url):
            let file = try await FileReader.open(url.path)
            return .stream(HTTPBody.Stream { { try await file.read() } }, length: file.length)
        }
    }
}
#endif
