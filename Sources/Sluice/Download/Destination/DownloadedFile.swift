#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A download that is whole and in its place.
public struct DownloadedFile: Sendable, Hashable {
    /// Where it is: under another name than asked for, where that was taken and both were to be kept.
    public let url: URL
    /// In bytes.
    public let length: Int64
    /// How many of the bytes had been there from an earlier send.
    public let resumedBytes: Int64
    /// Its SHA-256 in 64 hexadecimal digits, where it was verified or asked for.
    public let sha256: String?

    /// Makes one.
    ///
    /// - Parameters:
    ///   - url: Where it is.
    ///   - length: In bytes.
    ///   - resumedBytes: How many of them had been there before.
    ///   - sha256: Its SHA-256 in hexadecimal digits.
    public init(url: URL, length: Int64, resumedBytes: Int64 = 0, sha256: String? = nil) {
        self.url = url
        self.length = length
        self.resumedBytes = resumedBytes
        self.sha256 = sha256
    }
}
