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
            throw ImageFailure(.png, "its header says that it is over 2147483647 pixels wide or high")
        }
        return ImageSize(width: Int(width), height: Int(height))
    }
}
