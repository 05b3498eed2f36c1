import Fetching
import Sluice

/// A download that is written where it cannot be resumed, while it arrives.
///
/// Each chunk is written before the next one is read. A reader that is slow, or that has stopped, slows the server down.
struct StreamedDownload {
    /// The outcome of a complete download.
    struct Content {
        let length: Int64
        let sha256: String?
    }

    let client: APIClient
    let item: FetchOptions.Item

    /// Sends the request and writes the body.
    ///
    /// - Parameters:
    ///   - output: The place for the body.
    ///   - place: The name of the place, for errors.
    ///   - report: Called with the progress, at most twenty times a second.
    /// - Returns: The length and the digest, which is that of the command line.
    /// - Throws: The failure. The bytes that have been written stay.
    func write(
        to output: BodyOutput,
        _ place: String,
        report: (TransferProgress) async -> Void
    ) async throws(DownloadFailure) -> Content {
        // The digest is that of the bytes that are written, so no encoding is negotiated.
        var request = client.stream(item.url)
        if !client.configuration.headers.contains(.acceptEncoding) {
            request = request.header(.acceptEncoding, "identity")
        }
        let digest = item.sha256.map { _ in SHA256Stream() }
        var (progress, meter) = (TransferProgress(), SpeedMeter())
        var reported: ContinuousClock.Instant?
        do {
            let response = try await request.response()
            // The length of an encoded body is not that of its content.
            let length = response.head.headers[.contentLength].flatMap { Int64($0) }
            progress.total = response.head.headers.contains(.contentEncoding) ? nil : length
            for try await chunk in response.bytes {
                try await output.write(chunk)
                digest?.append(chunk)
                progress.completed += Int64(chunk.count)
                let now = ContinuousClock.now
                if let reported, reported.duration(to: now) < .milliseconds(50) { continue }
                reported = now
                meter.record(progress.completed, at: now)
                progress.bytesPerSecond = meter.bytesPerSecond
                await report(progress)
            }
        } catch let error as APIError {
            throw DownloadFailure(error)
        } catch let error as Descriptor.Failure {
            throw DownloadFailure(error, writingTo: place)
        } catch {
            throw DownloadFailure(code: SluiceError.Code.internalFailure.description, reason: "\(error)")
        }
        let actual = digest.flatMap(\.hexDigest)
        guard actual == item.sha256 else { throw .checksumMismatch }
        return Content(length: progress.completed, sha256: actual)
    }
}
