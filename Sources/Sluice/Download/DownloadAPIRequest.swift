import SluiceHTTP

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A request whose response goes into a file.
///
/// ```swift
/// let archive: DownloadAPIRequest<DownloadedFile, GitHubError> = github.download("archive.tar.gz", to: .suggested(in: downloads))
/// let url = try await archive.sha256(checksum).sender().responseURL
/// ```
///
/// The bytes gather in a hidden file beside the destination, which gets its name when it is whole, so that whoever reads that
/// name sees all or nothing. What breaks off goes on where it stopped: within one send, after a failure, a cancellation, and
/// in another process, where the server gives ranges (RFC 9110 §14) and a strong validator, and the resource is still the
/// same; else it begins anew.
///
/// Of the client's limits and time-outs those on the whole body do not hold, ``ResponseLimits/body`` and ``Timeouts/total``; those
/// that the request sets itself do.
public struct DownloadAPIRequest<Model: Sendable, ErrorModel: ErrorSerializable>: ModifiableRequest {
    /// By whom it is sent.
    public let client: APIClient
    /// All that the request says of itself, without its types.
    public var draft: RequestDraft
    /// Where the file will be.
    public let destination: DownloadDestination
    var options = DownloadOptions()
    let serializer: any DownloadSerializer<Model>
    let errorDecoder: (any DataDecoder)?

    /// Makes a sender, which sends the request once, when it is first asked for the outcome.
    public func sender() -> DownloadRequestSender<Model, ErrorModel> {
        DownloadRequestSender(self)
    }

    /// Removes what an earlier send of this download has left to go on from; does nothing where nothing is left, or where a sender
    /// is at work on it.
    ///
    /// - Throws: The request's error model, where the request cannot be made or the folder cannot be used.
    public func discardPart() async throws(ErrorModel) {
        do throws(SluiceError) {
            let key = DownloadKey(of: try draft.build(for: client.pipeline))
            // What stands under the final name is no matter here.
            let place = DownloadDestination(target: destination.target, conflict: .overwrite, createsDirectories: false)
            let lease = PartLease()
            let part = try await PartFile.open(key: key.text, destination: place, lease: lease)
            await part.discard()
            lease.end()
        } catch {
            throw ErrorModel(RequestFailure(error: error))
        }
    }

    /// Makes a model of the file.
    ///
    /// - Parameter serializer: What makes it.
    /// - Returns: The request with that model.
    public func serialized<Other>(by serializer: some DownloadSerializer<Other>) -> DownloadAPIRequest<
        Other, ErrorModel
    > {
        DownloadAPIRequest<Other, ErrorModel>(
            client: client,
            draft: draft,
            destination: destination,
            options: options,
            serializer: serializer,
            errorDecoder: errorDecoder
        )
    }

    /// Decodes the file, which is held in memory for that, by the client's decoder.
    ///
    /// - Parameter model: The model, where the context does not name it.
    /// - Returns: The request with that model.
    public func decoded<Other: Decodable & Sendable>(
        as model: Other.Type = Other.self
    ) -> DownloadAPIRequest<Other, ErrorModel> {
        serialized(by: DecodableFileSerializer(decoder: client.pipeline.modelDecoder))
    }
}

extension DownloadAPIRequest {
    /// Asks for a file with this SHA-256.
    ///
    /// - Parameter digest: 64 hexadecimal digits of either case. Another file fails the request with
    ///   ``SluiceError/Code/checksumMismatch`` and is removed; what is no such digest with ``SluiceError/Code/invalidChecksum``.
    /// - Returns: A copy that verifies it.
    public consuming func sha256(_ digest: String) -> Self {
        options.sha256 = digest
        return self
    }

    /// Asks for a file of this length in bytes; another fails the request with ``SluiceError/Code/lengthMismatch``.
    public consuming func expectedLength(_ length: Int64) -> Self {
        options.length = length
        return self
    }

    /// Shares a large file between several transfers at once, where the server gives ranges of it and a strong validator.
    ///
    /// - Parameters:
    ///   - count: How many transfers there may be; 1, the default of a download, does not share it.
    ///   - minimum: What is smaller than twice this is not shared: 8 MiB by default.
    /// - Returns: A copy that does.
    public consuming func segments(_ count: Int, ofAtLeast minimum: Int64 = 8 << 20) -> Self {
        options.segments = max(1, count)
        options.minimumSegment = max(1, minimum)
        return self
    }

    /// Sets how often in a row the transfer may break off without another byte before the request fails; 5 by default. After
    /// each that has brought some it goes on at once, after others it backs off. Requests that are not idempotent are never
    /// sent again.
    public consuming func resumes(upTo count: Int) -> Self {
        options.resumes = max(0, count)
        return self
    }
}
