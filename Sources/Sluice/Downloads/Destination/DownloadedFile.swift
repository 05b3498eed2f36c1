#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A complete download at its destination.
public struct DownloadedFile: Sendable, Hashable {
    /// The URL of the file. With ``DownloadDestination/Conflict/keepBoth`` the name may have a number added.
    public let url: URL
    /// The length in bytes.
    public let length: Int64
    /// The number of bytes that came from an earlier send.
    public let resumedBytes: Int64
    /// The SHA-256 of the file in 64 hexadecimal digits, if it was verified or requested; nil otherwise.
    public let sha256: String?

    /// Creates a value.
    ///
    /// - Parameters:
    ///   - url: The URL of the file.
    ///   - length: The length in bytes.
    ///   - resumedBytes: The number of bytes that came from an earlier send.
    ///   - sha256: The SHA-256 in hexadecimal digits.
    public init(url: URL, length: Int64, resumedBytes: Int64 = 0, sha256: String? = nil) {
        self.url = url
        self.length = length
        self.resumedBytes = resumedBytes
        self.sha256 = sha256
    }
}
