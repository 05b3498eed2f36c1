import Foundation
import SluiceHTTP

/// A request's body, looked at before anything is sent.
enum UploadBody: Sendable {
    case none
    case data(Data)
    case file(URL)
    case stream(HTTPBody.Stream, length: Int64?)

    private static let queue = DispatchQueue(label: "sluice.urlsession.files", attributes: .concurrent)

    /// Refuses what the session would fail with, or trap on, later.
    static func open(_ request: HTTPRequest) async throws(SluiceError) -> UploadBody {
        if request.method == .get && !request.body.isNone {
            throw SluiceError(
                .unsupported,
                "URLSession sends no body with a GET; use another method, or another transport.",
                request: request
            )
        }
        switch request.body.source {
        case .none:
            return .none
        case .data(let data):
            return .data(data)
        case .stream(let stream):
            return .stream(stream, length: request.body.length)
        case .file(let url):
            if let failure = await failure(toRead: url) { throw failure.with(request: request) }
            return .file(url)
        }
    }

    /// Asks on a thread that may block.
    private static func failure(toRead url: URL) async -> SluiceError? {
        await queue.result { check(url) }
    }

    private static func check(_ url: URL) -> SluiceError? {
        do {
            let attributes = try FileManager.default.attributesOfItem(atPath: url.resolvingSymlinksInPath().path)
            guard attributes[.type] as? FileAttributeType == .typeRegular else {
                return .unavailable("“\(url.path)” is no file.")
            }
        } catch {
            return .unavailable("The file “\(url.path)” cannot be read; check that it is there.", error)
        }
        guard FileManager.default.isReadableFile(atPath: url.path) else {
            return .unavailable("The file “\(url.path)” may not be read.")
        }
        return nil
    }
}

/// What a task is given to send.
enum Payload: Sendable {
    /// Opens a stream of the body's bytes; nil where they are gone.
    typealias OpenStream = @Sendable () -> InputStream?

    case none
    case data(Data)
    case file(URL)
    case stream(OpenStream)
}

extension SluiceError {
    static func unavailable(_ reason: String, _ error: (any Error)? = nil) -> SluiceError {
        SluiceError(.bodyUnavailable, reason, underlyingError: error)
    }
}
