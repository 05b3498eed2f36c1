/// The logical screen of a GIF file (GIF89a §18).
enum GIFHeader {
    /// Width and height, which may be zero here.
    static func size(in bytes: ImageBytes) throws(ImageFailure) -> ImageSize {
        // The whole descriptor must be there, colours' flags, background and aspect ratio too.
        _ = try bytes.byte(at: 12, of: .gif)
        return ImageSize(
            width: Int(try bytes.littleEndian(at: 6, count: 2, of: .gif)),
            height: Int(try bytes.littleEndian(at: 8, count: 2, of: .gif))
        )
    }
}
