import CZlib
import SluiceFoundation

/// Decompresses a gzip or zlib file (RFC 1952, RFC 1950), to search it for secrets.
///
/// A gzip file has one or more members, which are all decompressed. Bytes after the last one are returned as they are.
///
/// A class, because zlib keeps a pointer to its stream, which must not be moved or copied. Not thread-safe.
package final class Inflater {
    private enum State {
        case member
        /// The end of a member has been decompressed.
        case afterMember
        case afterFile
    }

    private static let pieceSize = 64 << 10

    private let stream: UnsafeMutablePointer<z_stream>
    private let buffer: UnsafeMutablePointer<UInt8>
    private var state = State.member

    /// Creates a decompressor; nil if there is not enough memory.
    init?() {
        let stream = UnsafeMutablePointer<z_stream>.allocate(capacity: 1)
        stream.initialize(to: z_stream())
        // 15 bits select the largest window. Adding 32 accepts both formats.
        guard inflateInit2_(stream, 15 + 32, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size)) == Z_OK else {
            stream.deallocate()
            return nil
        }
        self.stream = stream
        buffer = .allocate(capacity: Inflater.pieceSize)
    }

    deinit {
        inflateEnd(stream)
        stream.deallocate()
        buffer.deallocate()
    }

    /// Decompresses the next piece of a file.
    ///
    /// - Parameters:
    ///   - piece: The bytes.
    ///   - take: Called with the decompressed bytes in pieces of up to 64 KiB. Returns false to stop.
    /// - Returns: False if the file is damaged, or if `take` has stopped.
    func decompress(_ piece: Data, _ take: (Data) -> Bool) -> Bool {
        var rest = piece
        while let first = rest.first {
            if state == .afterMember {
                state = first == 0x1F ? .member : .afterFile
                if state == .member { inflateReset(stream) }
            }
            if state == .afterFile { return take(rest) }
            guard let count = decompressMember(rest.prefix(Self.pieceSize), take), count > 0 else { return false }
            rest = rest.dropFirst(count)
        }
        return true
    }

    /// Returns a decompressed file; nil if it is damaged, incomplete or longer than a limit in bytes.
    package static func decompressed(_ file: Data, limit: Int) -> Data? {
        guard let inflater = Inflater() else { return nil }
        var output = Data()
        let isIntact = inflater.decompress(file) { piece in
            output.append(piece)
            return output.count <= limit
        }
        return isIntact && inflater.state != .member ? output : nil
    }

    /// Decompresses bytes up to the end of a member, and returns their number; nil if they are damaged, or not taken.
    private func decompressMember(_ bytes: Data, _ take: (Data) -> Bool) -> Int? {
        bytes.withUnsafeBytes { bytes -> Int? in
            // zlib only reads from this pointer.
            stream.pointee.next_in = UnsafeMutablePointer(mutating: bytes.bindMemory(to: UInt8.self).baseAddress)
            stream.pointee.avail_in = UInt32(bytes.count)
            repeat {
                stream.pointee.next_out = buffer
                stream.pointee.avail_out = UInt32(Self.pieceSize)
                let result = inflate(stream, Z_NO_FLUSH)
                // Without input and output, there is nothing to do.
                guard result == Z_OK || result == Z_STREAM_END || result == Z_BUF_ERROR else { return nil }
                let count = Self.pieceSize - Int(stream.pointee.avail_out)
                if count > 0, !take(Data(bytes: buffer, count: count)) { return nil }
                if result == Z_STREAM_END { state = .afterMember }
            } while state == .member && stream.pointee.avail_out == 0
            return bytes.count - Int(stream.pointee.avail_in)
        }
    }
}
