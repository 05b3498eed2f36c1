#if !canImport(FoundationNetworking)
import Foundation
import SluiceHTTP

extension Exchange {
    /// Sends the stream while it is read, no faster than the network accepts it.
    func startStream(_ stream: HTTPBody.Stream, length: Int64?) {
        guard let streams = BoundStreams() else {
            return fail(SluiceError(.internalFailure, "No pair of streams could be made for the request's body."))
        }
        launch(.stream { streams.takeInput() })
        keep(
            Task {
                do throws(SluiceError) {
                    try await stream.read(length: length) { chunk throws(SluiceError) in
                        guard await streams.write(chunk) else { throw .cancelled }
                    }
                    streams.close()
                } catch {
                    // Fails first, so that the task does not take the closed stream for a complete body.
                    fail(error)
                    streams.close()
                }
            }
        )
    }
}

/// A pair of connected streams: bytes written to the output are read from the input.
private final class BoundStreams: Sendable {
    private static let bufferSize = 256 << 10

    private let queue = DispatchQueue(label: "sluice.urlsession.upload")
    /// Used on the queue only, whose thread blocks while the buffer is full.
    private nonisolated(unsafe) let output: OutputStream
    private nonisolated(unsafe) let input: InputStream
    private let isTaken = Locked(false)

    init?() {
        var input: InputStream?
        var output: OutputStream?
        Stream.getBoundStreams(
            withBufferSize: BoundStreams.bufferSize,
            inputStream: &input,
            outputStream: &output
        )
        guard let input, let output else { return nil }
        self.input = input
        self.output = output
        queue.async { [self] in self.output.open() }
    }

    /// Returns the input stream on the first call and nil afterwards, since a stream cannot be rewound.
    func takeInput() -> InputStream? {
        isTaken.withLock { isTaken in
            defer { isTaken = true }
            return isTaken
        } ? nil : input
    }

    /// Writes the whole chunk. Returns false if the input has been closed.
    func write(_ chunk: Data) async -> Bool {
        await queue.result { [self] in writeWaiting(chunk) }
    }

    func close() {
        queue.async { [self] in output.close() }
    }

    private func writeWaiting(_ chunk: Data) -> Bool {
        chunk.withUnsafeBytes { bytes in
            var rest = bytes.bindMemory(to: UInt8.self)[...]
            while !rest.isEmpty {
                guard let base = UnsafeBufferPointer(rebasing: rest).baseAddress else { return true }
                let count = output.write(base, maxLength: rest.count)
                guard count > 0 else { return false }
                rest = rest.dropFirst(count)
            }
            return true
        }
    }
}
#endif
