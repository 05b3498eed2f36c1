import SluiceHTTP

/// The options of a download, and the requirements on its file.
struct DownloadOptions: Sendable {
    /// The maximum number of parallel transfers.
    var segments = 1
    /// The minimum length of a segment, in bytes.
    var minimumSegment: Int64 = 8 << 20
    /// The number of times in a row that the transfer may break off without receiving a byte.
    var resumes = 5
    /// The required SHA-256, in hexadecimal digits; nil to accept any file.
    var sha256: String?
    var length: Int64?

    /// Checks that the required SHA-256 is well-formed.
    func check() throws(SluiceError) {
        guard let sha256 else { return }
        guard sha256.utf8.count == 64, sha256.allSatisfy(\.isHexDigit), sha256.utf8.allSatisfy({ $0 < 0x80 }) else {
            throw SluiceError(
                .invalidChecksum,
                "A SHA-256 has 64 hexadecimal digits; what was given has not.",
                step: .building
            )
        }
    }
}

extension SluiceError.Code {
    /// The SHA-256 given for a download is malformed.
    public static let invalidChecksum = Self("invalidChecksum")
}
