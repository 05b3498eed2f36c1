import Hummingbird
import NIOCore

/// What a handler knows of a request besides the request: the connection that it came by, too.
public struct ServiceContext: RequestContext {
    /// What Hummingbird keeps of every request.
    public var coreContext: CoreRequestContextStorage
    private let channel: any Channel

    /// Makes the context of a request.
    public init(source: ApplicationRequestContextSource) {
        coreContext = CoreRequestContextStorage(source: source)
        channel = source.channel
    }

    /// The user whom the path names.
    func userID() throws -> Int {
        guard let id = parameters.get("id", as: Int.self), id > 0 else {
            throw HTTPError(.badRequest, message: "A user's id is a whole number above 0.")
        }
        return id
    }

    /// Does the work of a handler by the caller's deadline, and for no longer than the caller is there.
    ///
    /// - Parameters:
    ///   - request: The request, whose `X-Request-Timeout` says how many seconds its caller is ready to wait.
    ///   - limit: How long a request may take at the most.
    ///   - work: What to do; it is cancelled when the caller leaves, or the server ends.
    /// - Returns: What the work gives.
    /// - Throws: What the work throws; 400 for a time-out that is none.
    func answer<Value: Sendable>(
        _ request: Request,
        within limit: Duration,
        _ work: @escaping @Sendable (Deadline) async throws -> Value
    ) async throws -> Value {
        let deadline = Deadline(try timeout(of: request), upTo: limit)
        let task = Task { try await work(deadline) }
        ClientDeparture.whenClientLeaves(channel) { task.cancel() }
        do {
            return try await withTaskCancellationHandler {
                try await task.value
            } onCancel: {
                task.cancel()
            }
        } catch let error as UpstreamError {
            log(error)
            throw error
        }
    }

    /// The caller is told the kind of failure, and the log the rest.
    private func log(_ error: UpstreamError) {
        switch error.kind {
        case .notFound, .cancelled: logger.debug("\(error)")
        case .timedOut: logger.info("\(error)")
        case .unavailable, .spared: logger.warning("\(error)")
        }
    }

    private func timeout(of request: Request) throws -> RequestTimeout? {
        guard let field = request.headers.first(where: { $0.name.canonicalName == "x-request-timeout" }) else {
            return nil
        }
        guard let timeout = RequestTimeout(field.value) else {
            throw HTTPError(.badRequest, message: "X-Request-Timeout is a number of seconds above 0, such as 1.5.")
        }
        return timeout
    }
}
