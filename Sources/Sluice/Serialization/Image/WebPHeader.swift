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
            throw ImageFailure(.webp, "its header says that it has over 4294967295 pixels")
        }
        return ImageSize(width: Int(width), height: Int(height))
    }

    /// Checks that the declared and the actual size of the first chunk are sufficient.
    private static func check(_ count: Int, in bytes: ImageBytes) throws(ImageFailure) {
        guard try bytes.littleEndian(at: payload - 4, count: 4, of: .webp) >= UInt32(count) else {
            throw ImageFailure(.webp, "its first chunk is of a wrong length")
        }
        _ = try bytes.byte(at: payload + count - 1, of: .webp)
    }
}
