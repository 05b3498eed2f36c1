/// Why bytes are no image: the underlying error of ``SluiceError/Code/decodingFailed``.
public struct ImageFailure: Error, Sendable, Hashable, CustomStringConvertible {
    /// The format that the first bytes stand for; nil if they stand for none.
    public let format: ImageFile.Format?
    /// What is wrong, as the rest of a sentence.
    public let reason: String

    init(_ format: ImageFile.Format?, _ reason: String) {
        self.format = format
        self.reason = reason
    }

    /// One sentence, without any of the bytes.
    public var description: String {
        guard let name = format?.name else { return "The data is no image: \(reason)." }
        return "The data is no \(name) image: \(reason)."
    }
}

extension ImageFile.Format {
    /// The format's name as people write it.
    var name: String {
        switch self {
        case .png: "PNG"
        case .jpeg: "JPEG"
        case .gif: "GIF"
        case .webp: "WebP"
        }
    }
}
