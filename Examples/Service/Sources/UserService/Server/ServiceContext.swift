import Hummingbird
import NIOCore

import struct Sluice.Deadline
import struct Sluice.TraceContext

/// The context of a request, including its connection.
public struct ServiceContext: RequestContext {
    /// The storage that Hummingbird needs for every request.
    public var coreContext: CoreRequestContextStorage
    private let channel: any Channel

    /// Creates the context of a request.
    public init(source: ApplicationRequestContextSource) {
        coreContext = CoreRequestContextStorage(source: source)
        channel = source.channel
    }

    /// The user ID in the path.
    func userID() throws -> Int {
        guard let id = parameters.get("id", as: Int.self), id > 0 else {
            throw HTTPError(.badRequest, message: "A user's ID must be a whole number above 0.")
        }
        return id
    }

    /// Runs the work of a handler, whose requests end by the caller's deadline. Cancels it if the caller disconnects.
    ///
    /// - Parameters:
    ///   - request: The request. Its `X-Request-Timeout` is the time-out of the caller, in seconds.
    ///   - limit: The maximum duration of a request.
    ///   - work: The work. It is cancelled when the caller disconnects or the server shuts down.
    /// - Returns: The result of the work.
    /// - Throws: The error of the work; 400 for an invalid timeout.
    func answer<Value: Sendable>(
        _ request: Request,
        within limit: Duration,
        _ work: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        let time = min(try timeout(of: request)?.duration ?? limit, limit)
        // The requests to the upstream continue the trace of the caller.
        let task = TraceContext.$current.withValue(request.traceContext) {
            Task { try await Deadline.withDeadline(time) { try await work() } }
        }
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

    /// Logs an error. The response to the caller contains only its kind.
    private func log(_ error: UpstreamError) {
        switch error.kind {
        case .notFound, .cancelled: logger.debug("\(error)")
        case .timedOut: logger.info("\(error)")
        case .unavailable, .limited: logger.warning("\(error)")
        }
    }

    private func timeout(of request: Request) throws -> RequestTimeout? {
        guard let field = request.headers.first(where: { $0.name.canonicalName == "x-request-timeout" }) else {
            return nil
        }
        guard let timeout = RequestTimeout(field.value) else {
            throw HTTPError(.badRequest, message: "X-Request-Timeout must be a number of seconds above 0, such as 1.5.")
        }
        return timeout
    }
}

extension Request {
    /// The caller's position in a trace, from `traceparent` and `tracestate` (W3C Trace Context); nil without a valid one.
    fileprivate var traceContext: TraceContext? {
        func value(_ name: String) -> String? { headers.first { $0.name.canonicalName == name }?.value }
        return value("traceparent").flatMap { TraceContext(traceparent: $0, tracestate: value("tracestate")) }
    }
}
