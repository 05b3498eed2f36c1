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
}
