#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension HTTPBody {
    /// Opens a file and creates a stream body of its length.
    static func opened(_ url: URL) async throws(SluiceError) -> HTTPBody {
        let opened = try await FileReader.open(url)
        let length = opened.length
        // The first reader takes ownership of the open file. The file closes at its end or when the reader is released,
        // even if the body itself is kept longer.
        let unread = Locked<FileReader?>(opened)
        let stream = Stream {
            var file = unread.withLock { $0.take() }
            var left: Int64? = length
            return {
                guard let rest = left else { return nil }
                let reader: FileReader
                if let file { reader = file } else { reader = try await FileReader.open(url) }
                file = reader
                // One byte more than the rest detects a file that has grown.
                let count = Int(min(max(0, rest), Int64(FileReader.pieceSize - 1)) + 1)
                let piece = try await reader.read(upTo: count)
                if let piece, piece.count == count {
                    left = rest - Int64(piece.count)
                } else {
                    left = nil
                    file = nil
                }
                return piece
            }
        }
        return .stream(stream, length: length, isReplayable: true)
    }
}
