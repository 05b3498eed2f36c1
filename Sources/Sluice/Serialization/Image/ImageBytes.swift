#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

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
            throw ImageFailure(format, "its header breaks off after \(data.count) bytes")
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
