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

    /// Makes a source of a body that is no file.
    init(_ body: HTTPBody) throws(SluiceError) {
        switch body.source {
        case .none: self = .none
        case .data(let data): self = .data(data)
        case .stream(let stream): self = .stream(stream, length: body.length)
        case .file: throw SluiceError(.unsupported, "A file has to be opened before it can be sent.")
        }
    }

    /// Opens a file, so that one that is missing fails before anything is sent.
    static func open(_ body: HTTPBody) async throws(SluiceError) -> UploadSource {
        guard case .file(let url) = body.source else { return try UploadSource(body) }
        let file = try await FileReader.open(url.path)
        return .stream(HTTPBody.Stream { { try await file.read() } }, length: file.length)
    }
}
#endif
