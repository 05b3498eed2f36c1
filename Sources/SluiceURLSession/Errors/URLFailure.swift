import Foundation
#if canImport(FoundationNetworking)
import FoundationNetworking
#endif
import SluiceHTTP

/// What a session reported of a failed task.
struct URLFailure {
    /// The session's code; nil where the error is none of the session's own.
    let code: URLError.Code?
    /// The engine's own words: libcurl's on Linux.
    let words: String
    let cause: any Error

    init(_ error: any Error) {
        code = (error as? URLError)?.code
        words = (error as NSError).localizedDescription
        cause = error
    }

    /// The SDK's word for the failure.
    ///
    /// - Parameters:
    ///   - host: Host and port, for the sentence.
    ///   - hasHead: Whether the response's head had come whole.
    func error(host: String, hasHead: Bool) -> SluiceError {
        print("XXX", code?.rawValue as Any, words, cause)
        return SluiceError(.internalFailure, words, underlyingError: cause)
    }
}
