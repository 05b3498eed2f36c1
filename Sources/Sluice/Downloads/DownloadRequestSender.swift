import Dispatch
import SluiceFoundation
import SluiceHTTP

/// Sends a download once and keeps its outcome.
///
/// The request is sent when the first of ``value``, ``result``, ``response`` and ``responseURL`` is read. All reads,
/// from any number of tasks, give the same outcome. A cancelled task stops waiting at once. The download stops when the
/// last waiting task is cancelled, or by ``cancel()``, and keeps its partial file for a later send.
public actor DownloadRequestSender<Model: Sendable, ErrorModel: ErrorSerializable> {
    /// The request to send.
    public nonisolated let request: DownloadAPIRequest<Model, ErrorModel>

    /// Not isolated, so that a cancellation takes effect without waiting for the actor. Its value is nil if it was
    /// cancelled.
    private nonisolated let singleFlight: SingleFlight<DownloadResponse<Model, ErrorModel>?>
    private nonisolated let upload: TransferMeter
    private nonisolated let downloaded: DownloadProgress

    init(_ request: DownloadAPIRequest<Model, ErrorModel>) {
        self.request = request
        let pipeline = request.client.pipeline
        let upload = TransferMeter(clock: pipeline.clock)
        let progress = DownloadProgress(meter: TransferMeter(clock: pipeline.clock))
        self.upload = upload
        downloaded = progress
        singleFlight = SingleFlight(cancelled: nil) { flight in
            guard let ticket = pipeline.running.enter(flight) else {
                upload.end()
                progress.meter.end()
                flight.complete(DownloadResponse(failure: pipeline.refusal(of: request.draft), of: request))
                return {}
            }
            let lease = PartialDownloadLease()
            let download = Download(
                pipeline: pipeline,
                draft: request.draft,
                destination: request.destination,
                options: request.options,
                lease: lease,
                upload: upload,
                progress: progress,
                sessions: pipeline.steps.sessions
            )
            let task = Task {
                let outcome = await download.run()
                let response = await DownloadResponse(outcome, to: request)
                lease.end()
                upload.end()
                progress.meter.end()
                outcome.call?.notifyPlugins(response.result)
                let isTaken = flight.complete(response)
                // All callers have been cancelled, and no closure or plugin has received the file.
                if !isTaken, case .temporary = request.destination.target, case .success = response.result,
                    !request.serializer.passesFile, pipeline.steps.plugins.isEmpty,
                    request.draft.options.steps.plugins.isEmpty, let file = response.file
                {
                    await BlockingQueues.next.result { try? FileManager.default.removeItem(at: file.url) }
                }
                pipeline.running.leave(ticket)
            }
            return {
                // The lease ends first, so that a new sender for the same download waits for this one's partial file.
                lease.end()
                task.cancel()
            }
        }
    }

    /// The model: the downloaded file, unless the request converts it.
    ///
    /// - Throws: The request's error model, also on cancellation.
    public var value: Model {
        get async throws(ErrorModel) { try await response.result.get() }
    }

    /// The model or the error.
    public var result: Result<Model, ErrorModel> {
        get async { await response.result }
    }

    /// The URL of the file.
    ///
    /// - Throws: The request's error model, also on cancellation.
    public var responseURL: URL {
        get async throws(ErrorModel) {
            let response = await response
            _ = try response.result.get()
            guard let file = response.file else { throw request.errorModel(RequestFailure(error: .noResponse)) }
            return file.url
        }
    }

    /// The complete outcome: request, head, file, metrics, and the result.
    public var response: DownloadResponse<Model, ErrorModel> {
        get async {
            if let completed = await singleFlight.value(), let response = completed { return response }
            return DownloadResponse(failure: .cancelled, of: request)
        }
    }

    /// Stops the download and keeps its partial file for a later send. All current and later callers get a cancellation
    /// error.
    ///
    /// Has no effect once there is an outcome. Can be called from any thread, and before the request is sent.
    public nonisolated func cancel() {
        singleFlight.cancel()
        endProgress()
    }

    deinit {
        // Ends the progress sequences of a request that was never sent.
        endProgress()
    }

    private nonisolated func endProgress() {
        upload.end()
        downloaded.meter.end()
    }

    /// The progress of the request's body, as ``RequestSender/downloadProgress`` describes it.
    public nonisolated var uploadProgress: some AsyncSequence<TransferProgress, Never> & Sendable {
        TransferProgressSequence(upload, .upload, clock: request.client.pipeline.clock)
    }

    /// The progress of the file, including the bytes from an earlier send. Any number of loops can read it, before and
    /// after the request is sent.
    public nonisolated var downloadProgress: some AsyncSequence<TransferProgress, Never> & Sendable {
        TransferProgressSequence(downloaded.meter, .download, clock: request.client.pipeline.clock)
    }
}

extension DownloadRequestSender: CustomStringConvertible, CustomReflectable, RedactedMirror {
    /// A short text that names the request.
    public nonisolated var description: String { "a sender of \(request)" }

    /// The request. The outcome is left out because it may hold secrets.
    package nonisolated var shown: [Mirror.Child] { [("request", request)] }
}

extension DownloadRequestSender {
    /// Sends the request if it has not been sent, and calls back with the response. For code that is not async.
    ///
    /// - Parameters:
    ///   - queue: The queue of the callback. Nil, the default, for any thread; the callback must not block it.
    ///   - completion: Called once with the response, also after ``cancel()``.
    @_disfavoredOverload
    public nonisolated func start(
        on queue: DispatchQueue? = nil,
        completion: @escaping @Sendable (DownloadResponse<Model, ErrorModel>) -> Void
    ) {
        Task {
            let response = await response
            if let queue { queue.async { completion(response) } } else { completion(response) }
        }
    }

    /// Sends the request if it has not been sent, and calls back with the response on the main actor.
    public nonisolated func start(
        on queue: MainQueue,
        completion: @escaping @MainActor @Sendable (DownloadResponse<Model, ErrorModel>) -> Void
    ) {
        Task { await completion(await response) }
    }
}
