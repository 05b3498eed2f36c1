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
    /// - Throws: ``SluiceError/Code/decodingFailed`` if the data has none of these formats, or its header is truncated
    ///   or invalid.
    public init(data: Data) throws(SluiceError) {
        let format: Format
        let size: ImageSize
        do throws(ImageFailure) {
            let bytes = ImageBytes(data)
            format = try Format(bytes)
            size = try format.size(in: bytes)
        } catch {
            throw SluiceError(.decodingFailed, error.description, step: .serialization, underlyingError: error)
        }
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
package struct ImageFailure: LocalizedError, Sendable, Hashable, CustomStringConvertible, DescribedError {
    /// The format indicated by the first bytes; nil if it is unknown.
    package let format: ImageFile.Format?
    /// The problem, phrased as the rest of a sentence.
    package let reason: String

    init(_ format: ImageFile.Format?, _ reason: String) {
        self.format = format
        self.reason = reason
    }

    /// A one-sentence description without any of the bytes.
    package var description: String {
        guard let name = format?.name else { return "The data is not a valid image: \(reason)." }
        return "The data is not a valid \(name) image: \(reason)."
    }
}

/// Reads a body as a PNG, JPEG, GIF or WebP image. The `Content-Type` is ignored.
struct ImageSerializer: ResponseSerializer {
    func serialize(_ response: ServerResponse) throws(SluiceError) -> ImageFile {
        if response.body.isEmpty {
            let reason = "The response is not a valid image: its body is empty."
            throw SluiceError(.decodingFailed, reason, step: .serialization)
        }
        return try ImageFile(data: response.body)
    }
}

// MARK: - Image headers

/// The first chunk of a PNG file, IHDR (W3C PNG §11.2.1).
enum PNGHeader {
    /// Returns the width and height, which may be zero.
    static func size(in bytes: ImageBytes) throws(ImageFailure) -> ImageSize {
        // The signature is followed by the length and type of the chunk, 13 data bytes and a checksum.
        _ = try bytes.byte(at: 32, of: .png)
        guard try bytes.bigEndian(at: 8, count: 4, of: .png) == 13, bytes.matches("IHDR", at: 12) else {
            throw ImageFailure(.png, "its first chunk is not IHDR")
        }
        // PNG integers are at most 2³¹ - 1 (§7.1), which fits into any Int.
        let width = Int32(bitPattern: try bytes.bigEndian(at: 16, count: 4, of: .png))
        let height = Int32(bitPattern: try bytes.bigEndian(at: 20, count: 4, of: .png))
        guard width >= 0, height >= 0 else {
            throw ImageFailure(.png, "its header declares a width or height of more than 2147483647 pixels")
        }
        return ImageSize(width: Int(width), height: Int(height))
    }
}

/// The segments of a JPEG file up to the frame header (ITU-T T.81 §B.1.1, §B.2).
enum JPEGHeader {
    /// Returns the width and height, which may be zero. A height that is defined after the first scan is not read.
    static func size(in bytes: ImageBytes) throws(ImageFailure) -> ImageSize {
        var offset = 2
        while true {
            guard try bytes.byte(at: offset, of: .jpeg) == 0xFF else {
                throw ImageFailure(.jpeg, "there is no marker at byte \(offset)")
            }
            // Any number of fill bytes may precede a marker.
            while try bytes.byte(at: offset, of: .jpeg) == 0xFF { offset += 1 }
            let marker = try bytes.byte(at: offset, of: .jpeg)
            offset += 1
            switch marker {
            case 0x01, 0xD0...0xD7:
                // TEM and RSTn have no length.
                continue
            case 0xC0...0xC3, 0xC5...0xC7, 0xC9...0xCB, 0xCD...0xCF:
                return try frameSize(in: bytes, at: offset)
            case 0x00, 0xD8:
                throw ImageFailure(.jpeg, "there is no marker at byte \(offset - 1)")
            case 0xD9, 0xDA:
                throw ImageFailure(.jpeg, "it has no frame before its \(marker == 0xD9 ? "end" : "first scan")")
            default:
                offset += try length(in: bytes, at: offset)
            }
        }
    }

    /// Reads the length, precision, height, width and components of an SOFn segment.
    private static func frameSize(in bytes: ImageBytes, at offset: Int) throws(ImageFailure) -> ImageSize {
        let length = try length(in: bytes, at: offset)
        _ = try bytes.byte(at: offset + length - 1, of: .jpeg)
        guard length >= 11, length == 8 + 3 * Int(try bytes.byte(at: offset + 7, of: .jpeg)) else {
            throw ImageFailure(.jpeg, "its frame header has an invalid length")
        }
        return ImageSize(
            width: Int(try bytes.bigEndian(at: offset + 5, count: 2, of: .jpeg)),
            height: Int(try bytes.bigEndian(at: offset + 3, count: 2, of: .jpeg))
        )
    }

    /// Returns the length of a segment, including the two length bytes.
    private static func length(in bytes: ImageBytes, at offset: Int) throws(ImageFailure) -> Int {
        let length = try bytes.bigEndian(at: offset, count: 2, of: .jpeg)
        guard length >= 2 else { throw ImageFailure(.jpeg, "the segment at byte \(offset) has an invalid length") }
        return Int(length)
    }
}

/// The logical screen descriptor of a GIF file (GIF89a §18).
enum GIFHeader {
    /// Returns the width and height, which may be zero.
    static func size(in bytes: ImageBytes) throws(ImageFailure) -> ImageSize {
        // The descriptor must be complete, including color flags, background and aspect ratio.
        _ = try bytes.byte(at: 12, of: .gif)
        return ImageSize(
            width: Int(try bytes.littleEndian(at: 6, count: 2, of: .gif)),
            height: Int(try bytes.littleEndian(at: 8, count: 2, of: .gif))
        )
    }
}

/// The first chunk of a WebP file (RFC 9649 §2.5 to §2.7).
enum WebPHeader {
    /// The offset of the first chunk's data, after `RIFF`, the file size, `WEBP`, the chunk type and the chunk size.
    private static let payload = 20

    /// Returns the width and height, which may be zero.
    static func size(in bytes: ImageBytes) throws(ImageFailure) -> ImageSize {
        _ = try bytes.byte(at: payload - 1, of: .webp)
        if bytes.matches("VP8 ", at: 12) { return try lossySize(in: bytes) }
        if bytes.matches("VP8L", at: 12) { return try losslessSize(in: bytes) }
        if bytes.matches("VP8X", at: 12) { return try canvasSize(in: bytes) }
        throw ImageFailure(.webp, "its first chunk is neither VP8, VP8L nor VP8X")
    }

    /// Reads the header of a key frame (RFC 6386 §9.1). The upper two bits of each dimension contain the scaling.
    private static func lossySize(in bytes: ImageBytes) throws(ImageFailure) -> ImageSize {
        try check(10, in: bytes)
        guard try bytes.byte(at: payload, of: .webp) & 1 == 0, bytes.matches([0x9D, 0x01, 0x2A], at: payload + 3) else {
            throw ImageFailure(.webp, "its VP8 chunk does not begin with a key frame")
        }
        return ImageSize(
            width: Int(try bytes.littleEndian(at: payload + 6, count: 2, of: .webp) & 0x3FFF),
            height: Int(try bytes.littleEndian(at: payload + 8, count: 2, of: .webp) & 0x3FFF)
        )
    }

    /// Reads the signature, 14 bits each for width - 1 and height - 1, one alpha bit and three version bits (RFC 9649
    /// §3.4).
    private static func losslessSize(in bytes: ImageBytes) throws(ImageFailure) -> ImageSize {
        try check(5, in: bytes)
        let bits = try bytes.littleEndian(at: payload + 1, count: 4, of: .webp)
        guard bytes[payload] == 0x2F, bits >> 29 == 0 else {
            throw ImageFailure(.webp, "its VP8L chunk does not begin with a lossless image of version 0")
        }
        return ImageSize(width: Int(bits & 0x3FFF) + 1, height: Int(bits >> 14 & 0x3FFF) + 1)
    }

    /// Reads the flags and 24 bits each for width - 1 and height - 1 (RFC 9649 §2.7).
    private static func canvasSize(in bytes: ImageBytes) throws(ImageFailure) -> ImageSize {
        try check(10, in: bytes)
        let width = try bytes.littleEndian(at: payload + 4, count: 3, of: .webp) + 1
        let height = try bytes.littleEndian(at: payload + 7, count: 3, of: .webp) + 1
        guard !width.multipliedReportingOverflow(by: height).overflow else {
            throw ImageFailure(.webp, "its header declares more than 4294967295 pixels")
        }
        return ImageSize(width: Int(width), height: Int(height))
    }

    /// Checks that the declared and the actual size of the first chunk are sufficient.
    private static func check(_ count: Int, in bytes: ImageBytes) throws(ImageFailure) {
        guard try bytes.littleEndian(at: payload - 4, count: 4, of: .webp) >= UInt32(count) else {
            throw ImageFailure(.webp, "its first chunk has an invalid length")
        }
        _ = try bytes.byte(at: payload + count - 1, of: .webp)
    }
}

/// A width and a height in pixels, as stored in a header.
struct ImageSize: Sendable, Equatable {
    let width: Int
    let height: Int
}

/// The bytes of an image, indexed from 0 regardless of the indexes of the `Data`.
struct ImageBytes {
    private let data: Data

    init(_ data: Data) {
        self.data = data
    }

    var isEmpty: Bool { data.isEmpty }

    /// The byte at an offset; nil past the end.
    subscript(offset: Int) -> UInt8? {
        guard offset >= 0, offset < data.count else { return nil }
        return data[data.startIndex + offset]
    }

    /// Reads a big-endian number of 1 to 4 bytes.
    func bigEndian(at offset: Int, count: Int, of format: ImageFile.Format) throws(ImageFailure) -> UInt32 {
        var number: UInt32 = 0
        for index in 0..<count { number = number << 8 | UInt32(try byte(at: offset + index, of: format)) }
        return number
    }

    /// Reads a little-endian number of 1 to 4 bytes.
    func littleEndian(at offset: Int, count: Int, of format: ImageFile.Format) throws(ImageFailure) -> UInt32 {
        try bigEndian(at: offset, count: count, of: format).byteSwapped >> UInt32(32 - 8 * count)
    }

    /// Returns the byte at an offset. Throws if the header ends before it.
    func byte(at offset: Int, of format: ImageFile.Format) throws(ImageFailure) -> UInt8 {
        guard let byte = self[offset] else {
            throw ImageFailure(format, "its header is truncated after \(data.count) bytes")
        }
        return byte
    }

    /// Returns true if the given bytes are at an offset.
    func matches(_ expected: some Sequence<UInt8>, at offset: Int) -> Bool {
        var offset = offset
        for byte in expected {
            if self[offset] != byte { return false }
            offset += 1
        }
        return true
    }

    /// Returns true if the given ASCII text is at an offset.
    func matches(_ text: String, at offset: Int) -> Bool {
        matches(text.utf8, at: offset)
    }
}
