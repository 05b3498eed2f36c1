import SluiceFoundation
import SluiceHTTP

/// Reads a multipart layout from start to end, in pieces that are large enough for one write.
///
/// Only the file that is being read is open.
struct MultipartReader {
    static let pieceSize = FileReader.pieceSize

    fileprivate enum Current {
        case bytes(Data)
        case file(FileReader, left: Int64, part: String)
        case stream(OpenStream)
    }

    fileprivate struct OpenStream {
        let next: RequestBody.Reader
        let length: Int64?
        let part: String
        var count: Int64 = 0
        /// The unread rest of the last chunk.
        var rest = Data()
    }

    private var segments: ArraySlice<MultipartLayout.Segment>
    private var current: Current?

    init(_ segments: [MultipartLayout.Segment]) {
        self.segments = segments[...]
    }

    /// Returns the next piece, or nil at the end.
    mutating func next() async throws(SluiceError) -> Data? {
        var piece = Data()
        var isGathered = false
        while piece.count < Self.pieceSize / 2 {
            // A stream may be slow, so send the bytes that are available first.
            if !piece.isEmpty, isNextOfAStream { break }
            guard let more = try await take(upTo: Self.pieceSize - piece.count) else { break }
            if piece.isEmpty {
                piece = more
                continue
            }
            if !isGathered {
                // Appending to a slice of a large part could allocate memory for all bytes before the slice.
                var gathered = Data(capacity: Self.pieceSize)
                gathered.append(piece)
                piece = gathered
                isGathered = true
            }
            piece.append(more)
        }
        return piece.isEmpty ? nil : piece
    }

    private var isNextOfAStream: Bool {
        switch current {
        case .stream(let stream): return stream.rest.isEmpty
        case .bytes, .file: return false
        case nil:
            if case .stream = segments.first { return true }
            return false
        }
    }

    /// Returns the next bytes, or nil at the end.
    private mutating func take(upTo count: Int) async throws(SluiceError) -> Data? {
        while true {
            switch current {
            case nil:
                guard let segment = segments.popFirst() else { return nil }
                current = try await open(segment)
            case .bytes(let data):
                current = data.count > count ? .bytes(data.dropFirst(count)) : nil
                return data.prefix(count)
            case .file(let file, let left, let part):
                if let piece = try await read(file, left, part, upTo: count) { return piece }
            case .stream(var stream):
                if stream.rest.isEmpty {
                    current = try await stream.readChunk() ? .stream(stream) : nil
                } else {
                    let piece = stream.rest.prefix(count)
                    stream.rest = stream.rest.dropFirst(count)
                    current = .stream(stream)
                    return piece
                }
            }
        }
    }

    private func open(_ segment: MultipartLayout.Segment) async throws(SluiceError) -> Current {
        switch segment {
        case .bytes(let data):
            return .bytes(data)
        case .stream(let stream, let length, let part):
            return .stream(OpenStream(next: stream.open(), length: length, part: part))
        case .file(let url, let length, let part):
            let file: FileReader
            do {
                file = try await FileReader.open(url)
            } catch {
                throw .unavailable(part, error)
            }
            if let length, file.length != length { throw .fileChanged(part, from: length, "\(file.length)") }
            return .file(file, left: file.length, part: part)
        }
    }

    /// Reads a piece of a file. Returns nil at the end of the file.
    private mutating func read(
        _ file: FileReader,
        _ left: Int64,
        _ part: String,
        upTo count: Int
    ) async throws(SluiceError) -> Data? {
        // Request one more byte than is left, to detect a file that has grown.
        let wanted = Int(min(left, Int64(count) - 1) + 1)
        let piece: Data?
        do {
            piece = try await file.read(upTo: wanted)
        } catch {
            throw .unavailable(part, error)
        }
        let rest = left - Int64(piece?.count ?? 0)
        let isAtEnd = (piece?.count ?? 0) < wanted
        if rest < 0 { throw .fileChanged(part, from: file.length, "more") }
        if isAtEnd, rest > 0 { throw .fileChanged(part, from: file.length, "\(file.length - rest)") }
        current = isAtEnd ? nil : .file(file, left: rest, part: part)
        return piece
    }
}

extension MultipartReader.OpenStream {
    /// Reads the next chunk and checks the stream against its announced length. Returns false at the end.
    fileprivate mutating func readChunk() async throws(SluiceError) -> Bool {
        do {
            guard let chunk = try await next() else {
                if let length, count < length { throw SluiceError.mismatch(part, length, "only \(count)") }
                return false
            }
            rest = chunk
            count += Int64(chunk.count)
        } catch let error as SluiceError {
            throw error
        } catch is CancellationError where Task.isCancelled {
            throw .cancelled
        } catch {
            throw SluiceError(.bodyUnavailable, "The part \(part) could not be read.", underlyingError: error)
        }
        if let length, count > length { throw .mismatch(part, length, "more") }
        return true
    }
}

extension SluiceError {
    fileprivate static func mismatch(_ part: String, _ length: Int64, _ actual: String) -> SluiceError {
        SluiceError(.bodyLengthMismatch, "The part \(part) was expected to have \(length) bytes, but had \(actual).")
    }

    fileprivate static func fileChanged(_ part: String, from length: Int64, _ now: String) -> SluiceError {
        SluiceError(
            .bodyLengthMismatch,
            "The file of the part \(part) had \(length) bytes when the request started, but has \(now) now."
        )
    }
}
