import CZlib
import SluiceFoundation
import SluiceHTTP

/// A search for secrets in a body that is not text and arrives piece by piece.
///
/// It finds the secret names of at least five letters wherever they stand, and all other secrets in runs of printable
/// characters. In the millions of bytes of a compressed body, shorter names and signs occur by chance.
///
/// A gzip or zlib file is searched decompressed, and a text in it also for names of fewer letters. Zstandard is not decompressed, nor is
/// a compressed file in another. Other formats are not recognized.
package struct BinaryBodySearch {
    /// The number of bytes that are searched again with the next piece, because a secret may continue in it.
    private static let overlap = 512
    /// The minimum length of a run of printable characters that is searched.
    private static let minimumRun = 16
    /// The maximum decompressed length that is searched, in bytes.
    private static let decompressedLimit = 32 << 20

    private let rules: SecretRules
    /// The decompressor of a compressed file; nil for any other body.
    private let inflater: Inflater?
    private var decompressed = 0
    /// The last bytes that have been searched.
    private var end = Data()
    /// True if a secret has been found, or if the body is compressed and cannot be searched.
    package private(set) var mayHaveSecret = false

    /// Creates a search.
    ///
    /// - Parameters:
    ///   - beginning: The beginning of the body, which is searched. It has at least four bytes, unless the body is shorter.
    ///   - rules: The rules that identify secrets.
    init(_ beginning: Data, _ rules: SecretRules) {
        self.rules = rules
        let isCompressed = DocumentRedactor.isCompressed(beginning)
        inflater = isCompressed ? Inflater() : nil
        if isCompressed, inflater == nil { mayHaveSecret = true }
        append(beginning)
    }

    package mutating func append(_ piece: Data) {
        guard !mayHaveSecret else { return }
        guard let inflater else { return search(piece) }
        let isSearched = inflater.decompress(piece) { piece in
            if decompressed == 0, DocumentRedactor.isCompressed(piece) { return false }
            decompressed += piece.count
            search(piece)
            return !mayHaveSecret && decompressed <= Self.decompressedLimit
        }
        if !isSearched { mayHaveSecret = true }
    }

    private mutating func search(_ piece: Data) {
        let bytes = Array(end + piece)
        end = Data(bytes.suffix(Self.overlap))
        mayHaveSecret =
            rules.memberNames.occur(in: bytes) || rules.headerNames.occur(in: bytes) || containsSecretText(bytes)
    }

    private func containsSecretText(_ bytes: [UInt8]) -> Bool {
        let isText = inflater != nil && Self.isText(bytes)
        var start = 0
        for index in 0...bytes.count where index == bytes.count || !Self.isPrintable(bytes[index]) {
            let run = bytes[start..<index]
            start = index + 1
            if run.isEmpty || !isText && run.count < Self.minimumRun { continue }
            let text = Array(run)
            if SecretScanner.containsSecret(text, rules) { return true }
            if isText, SecretScanner.containsSecretName(text, rules, amongParameters: true) { return true }
        }
        return false
    }

    /// Returns true if few bytes are control characters, apart from NUL, which pads archives.
    private static func isText(_ bytes: [UInt8]) -> Bool {
        bytes.count { $0 != 0 && $0 < 0x80 && !isPrintable($0) } * 50 < bytes.count
    }

    private static func isPrintable(_ byte: UInt8) -> Bool { (0x20...0x7E).contains(byte) || (9...13).contains(byte) }
}

// MARK: - Decompression

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
