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
                throw ImageFailure(.jpeg, "no frame comes before its \(marker == 0xD9 ? "end" : "first scan")")
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
            throw ImageFailure(.jpeg, "its frame is of a wrong length")
        }
        return ImageSize(
            width: Int(try bytes.bigEndian(at: offset + 5, count: 2, of: .jpeg)),
            height: Int(try bytes.bigEndian(at: offset + 3, count: 2, of: .jpeg))
        )
    }

    /// Returns the length of a segment, including the two length bytes.
    private static func length(in bytes: ImageBytes, at offset: Int) throws(ImageFailure) -> Int {
        let length = try bytes.bigEndian(at: offset, count: 2, of: .jpeg)
        guard length >= 2 else { throw ImageFailure(.jpeg, "a segment at byte \(offset) is of a wrong length") }
        return Int(length)
    }
}
