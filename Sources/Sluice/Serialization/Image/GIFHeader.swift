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
