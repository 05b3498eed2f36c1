/// The reason data is not a valid image: the underlying error of ``SluiceError/Code/decodingFailed``.
public struct ImageFailure: Error, Sendable, Hashable, CustomStringConvertible {
    /// The format indicated by the first bytes; nil if it is unknown.
    public let format: ImageFile.Format?
    /// The problem, phrased as the rest of a sentence.
    public let reason: String

    init(_ format: ImageFile.Format?, _ reason: String) {
        self.format = format
        self.reason = reason
    }

    /// A one-sentence description without any of the bytes.
    public var description: String {
        guard let name = format?.name else { return "The data is no image: \(reason)." }
        return "The data is no \(name) image: \(reason)."
    }
}

extension ImageFile.Format {
    /// The display name of the format.
    var name: String {
        switch self {
        case .png: "PNG"
        case .jpeg: "JPEG"
        case .gif: "GIF"
        case .webp: "WebP"
        }
    }
}
