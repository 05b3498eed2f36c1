import Sluice

/// The failure of a download, for reports.
struct DownloadFailure: Error {
    /// The code of the error, such as `unacceptableStatus`.
    let code: String
    /// A sentence that describes the failure.
    let reason: String
    /// True if the download was stopped.
    let isCancellation: Bool
    /// True if the reader of the content has gone.
    let isBrokenPipe: Bool

    init(_ error: APIError) {
        code = error.code.description
        isCancellation = error.isCancellation
        isBrokenPipe = false
        reason = isCancellation ? "interrupted" : error.description
    }

    /// Creates the failure to write to a place.
    init(_ failure: Descriptor.Failure, writingTo place: String) {
        isCancellation = failure.isCancellation
        isBrokenPipe = failure.isBrokenPipe
        code = (isCancellation ? SluiceError.Code.cancelled : .cannotWriteFile).description
        reason = isCancellation ? "interrupted" : "\(place) could not be written: \(failure)."
    }

    /// The content has another digest than the command line requires.
    static let checksumMismatch = DownloadFailure(
        code: SluiceError.Code.checksumMismatch.description,
        reason: "The SHA-256 checksum of the content does not match. The bytes that were written must not be used."
    )

    /// The download was stopped before its request was sent.
    static let interrupted = DownloadFailure(
        code: SluiceError.Code.cancelled.description,
        reason: "interrupted",
        isCancellation: true
    )

    init(code: String, reason: String, isCancellation: Bool = false) {
        self.code = code
        self.reason = reason
        self.isCancellation = isCancellation
        isBrokenPipe = false
    }
}
