import SluiceHTTP

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Sends a download once and keeps what came of it.
///
/// It is sent when the first of ``value``, ``result``, ``response`` and ``responseURL`` is read; each of them, read however
/// often and by however many tasks, gives the same outcome. A task that is cancelled stops waiting at once; the download
/// stops when the last one that waits is cancelled, or by ``cancel()``, and keeps what it has for a later send.
public actor DownloadRequestSender<Model: Sendable, ErrorModel: ErrorSerializable> {
    /// What is sent.
    public nonisolated let request: DownloadAPIRequest<Model, ErrorModel>

    /// Not isolated: a cancellation must take effect without waiting for the actor. Its value is nil for one that was cancelled.
    private nonisolated let flight: Flight<DownloadResponse<Model, ErrorModel>?>
    private nonisolated let upload: TransferMeter
    private nonisolated let progress: DownloadProgress

    init(_ request: DownloadAPIRequest<Model, ErrorModel>) {
        self.request = request
        let pipeline = request.client.pipeline
        let upload = TransferMeter(time: pipeline.time)
        let progress = DownloadProgress(meter: TransferMeter(time: pipeline.time))
        self.upload = upload
        self.progress = progress
        flight = Flight(cancelled: nil) { land, _ in
            let lease = PartLease()
            let download = Download(
                pipeline: pipeline,
                draft: request.draft,
                destination: request.destination,
                options: request.options,
                lease: lease,
                upload: upload,
                progress: progress
            )
            let task = Task {
                let response = await DownloadResponse(await download.run(), to: request)
                lease.end()
                upload.end()
                progress.meter.end()
                _ = land(response)
            }
            return {
                // In this order: who asks for the same at once is to wait for what this one has.
                lease.end()
                task.cancel()
            }
        }
    }

    /// The model: the file itself unless the request makes another of it.
    ///
    /// - Throws: The request's error model, cancellation included.
    public var value: Model {
        get async throws(ErrorModel) { try await response.result.get() }
    }

    /// The model or the error.
    public var result: Result<Model, ErrorModel> {
        get async { await response.result }
    }

    /// Where the file is.
    ///
    /// - Throws: The request's error model, cancellation included.
    public var responseURL: URL {
        get async throws(ErrorModel) {
            let response = await response
            _ = try response.result.get()
            guard let file = response.file else { throw ErrorModel(RequestFailure(error: .noResponse)) }
            return file.url
        }
    }

    /// Everything: request, head, file, metrics, and the result.
    public var response: DownloadResponse<Model, ErrorModel> {
        get async {
            if let landed = await flight.value(), let response = landed { return response }
            return DownloadResponse(failure: .cancelled, of: request)
        }
    }

    /// Stops the download, and keeps what it has for a later send; whoever waits gets a cancellation error now, and whoever
    /// asks later too.
    ///
    /// Without effect once there is an outcome. Can be called from any thread and before the request is sent.
    public nonisolated func cancel() {
        flight.cancel()
        endProgress()
    }

    deinit {
        // For those who watch what was never sent.
        endProgress()
    }

    private nonisolated func endProgress() {
        upload.end()
        progress.meter.end()
    }

    /// How the request's body goes out: to be watched by any number of loops, whether it has been sent or not.
    public nonisolated var uploadProgress: TransferProgressSequence {
        TransferProgressSequence(upload, .upload, time: request.client.pipeline.time)
    }

    /// How the file comes in, with what is there of an earlier send: to be watched by any number of loops, whether the
    /// request has been sent or not.
    public nonisolated var downloadProgress: TransferProgressSequence {
        TransferProgressSequence(progress.meter, .download, time: request.client.pipeline.time)
    }
}
