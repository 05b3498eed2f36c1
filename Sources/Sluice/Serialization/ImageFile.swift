import SluiceFoundation
import SluiceHTTP

#if canImport(UIKit)
import UIKit
#elseif canImport(AppKit)
import AppKit
#endif

/// An image file with the format and size from its header.
///
/// ```swift
/// let avatar = try await client.image.get("users/1/avatar").sender().value
/// print(avatar.format, avatar.width, avatar.height)
/// try avatar.data.write(to: file)
/// ```
///
/// The pixels are not decoded. The header can be valid even if the rest of the file is damaged. On Apple platforms,
/// `platformImage` is the decoded image.
public struct ImageFile: Sendable, Hashable {
    /// An image format.
    public enum Format: String, Sendable, Hashable, CaseIterable {
        /// Portable Network Graphics (W3C PNG, third edition).
        case png
        /// JPEG, baseline, progressive or any other kind (ITU-T T.81).
        case jpeg
        /// Graphics Interchange Format, 87a or 89a.
        case gif
        /// WebP, lossy, lossless or extended (RFC 9649).
        case webp
    }

    /// The format, determined from the first bytes and not from the content type.
    public let format: Format
    /// The width in pixels, at least 1, as stored. Orientation metadata is not applied.
    public let width: Int
    /// The height in pixels, at least 1, as stored. Orientation metadata is not applied.
    public let height: Int
    /// The bytes of the file.
    public let data: Data

    /// Reads the header of an image.
    ///
    /// - Parameter data: A complete PNG, JPEG, GIF or WebP file.
    /// - Throws: An ``ImageFailure`` if the data has none of these formats, or its header is truncated or invalid.
    public init(data: Data) throws(ImageFailure) {
        let bytes = ImageBytes(data)
        let format = try Format(bytes)
        let size = try format.size(in: bytes)
        self.format = format
        width = size.width
        height = size.height
        self.data = data
    }

    #if canImport(UIKit)
    /// The decoded image; nil if the system cannot decode it. Each access decodes it again.
    public var platformImage: UIImage? { UIImage(data: data) }
    #elseif canImport(AppKit)
    /// The decoded image; nil if the system cannot decode it. Each access decodes it again.
    public var platformImage: NSImage? { NSImage(data: data) }
    #endif
}

extension ImageFile.Format {
    init(_ bytes: ImageBytes) throws(ImageFailure) {
        if bytes.isEmpty { throw ImageFailure(nil, "it is empty") }
        if bytes.matches([0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A], at: 0) {
            self = .png
        } else if bytes.matches([0xFF, 0xD8], at: 0) {
            self = .jpeg
        } else if bytes.matches("GIF87a", at: 0) || bytes.matches("GIF89a", at: 0) {
            self = .gif
        } else if bytes.matches("RIFF", at: 0), bytes.matches("WEBP", at: 8) {
            self = .webp
        } else {
            throw ImageFailure(nil, "it does not begin with the signature of PNG, JPEG, GIF or WebP")
        }
    }

    func size(in bytes: ImageBytes) throws(ImageFailure) -> ImageSize {
        let size =
            switch self {
            case .png: try PNGHeader.size(in: bytes)
            case .jpeg: try JPEGHeader.size(in: bytes)
            case .gif: try GIFHeader.size(in: bytes)
            case .webp: try WebPHeader.size(in: bytes)
            }
        guard size.width > 0, size.height > 0 else {
            throw ImageFailure(self, "its header declares a size of \(size.width) by \(size.height) pixels")
        }
        return size
    }

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

/// The reason data is not a valid image: the underlying error of ``SluiceError/Code/decodingFailed``.
public struct ImageFailure: LocalizedError, Sendable, Hashable, CustomStringConvertible {
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
        guard let name = format?.name else { return "The data is not a valid image: \(reason)." }
        return "The data is not a valid \(name) image: \(reason)."
    }

    /// The ``description``, as `localizedDescription`.
    public var errorDescription: String? { description }
}

/// Reads a body as a PNG, JPEG, GIF or WebP image. The `Content-Type` is ignored.
struct ImageSerializer: ResponseSerializer {
    func serialize(_ response: ServerResponse) throws(SluiceError) -> ImageFile {
        do throws(ImageFailure) {
            return try ImageFile(data: response.body)
        } catch {
            let sentence =
                response.body.isEmpty ? "The response is not a valid image: its body is empty." : error.description
            throw SluiceError(.decodingFailed, sentence, step: .serialization, underlyingError: error)
        }
    }
}
