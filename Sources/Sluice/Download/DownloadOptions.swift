import SluiceHTTP

/// How a download is fetched and what it must come to.
struct DownloadOptions: Sendable {
    /// How many transfers may share a file.
    var segments = 1
    /// What is smaller is not shared.
    var minimumSegment: Int64 = 8 << 20
    /// How often in a row it may break off without a byte before it has failed.
    var resumes = 5
    /// In hexadecimal digits.
    var sha256: String?
    var length: Int64?

    /// Refuses what no file could come to.
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
    /// The checksum that a download was to have is none.
    public static let invalidChecksum = Self("invalidChecksum")
}
