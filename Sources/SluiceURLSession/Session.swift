import Foundation
import SluiceHTTP

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A `URLSession` that ends with its last user: the transport, or a transfer that outlives it.
final class Session: Sendable {
    private let session: URLSession
    private let exchanges = ExchangeRegistry()
    #if canImport(FoundationNetworking)
    private static let taskQueue = DispatchQueue(label: "sluice.urlsession.tasks")
    #endif

    init(configuration: URLSessionConfiguration) {
        // Data must come in its order.
        let queue = OperationQueue()
        queue.name = "sluice.urlsession"
        queue.maxConcurrentOperationCount = 1
        session = URLSession(
            configuration: configuration,
            delegate: SessionDelegate(exchanges: exchanges),
            delegateQueue: queue
        )
    }

    deinit {
        // The session holds its delegate until it is told that no more tasks will come.
        session.finishTasksAndInvalidate()
    }

    /// Does something between two events of the session's tasks.
    func inTurn(_ work: @escaping @Sendable () -> Void) {
        session.delegateQueue.addOperation(work)
    }

    /// Makes a task whose events go to the exchange, from its start to its end.
    func makeTask(for exchange: Exchange, _ message: URLRequest, _ payload: Payload) -> URLSessionTask {
        let task: URLSessionTask =
            switch payload {
            case .none: session.dataTask(with: message)
            case .data(let data): session.uploadTask(with: message, from: data)
            case .file(let url): session.uploadTask(with: message, fromFile: url)
            case .stream(let open): makeStreamTask(message, open)
            }
        exchanges.add(exchange, for: task)
        return task
    }

    /// Cancels a task.
    func stop(_ task: URLSessionTask) {
        withTasks { task.cancel() }
    }

    private func makeStreamTask(_ message: URLRequest, _ open: Payload.OpenStream) -> URLSessionTask {
        #if canImport(FoundationNetworking)
        // Foundation on Linux has no upload tasks of streams, and does not ask its delegate for the first stream.
        var message = message
        message.httpBodyStream = open()
        return session.dataTask(with: message)
        #else
        return session.uploadTask(withStreamedRequest: message)
        #endif
    }
}

extension Session {
    /// Makes, starts or stops a task.
    ///
    /// On Linux each of these waits for the one queue that all sessions of the process share, which must keep no thread
    /// of the caller's waiting, and no more than one in all.
    func withTasks(_ work: @escaping @Sendable () -> Void) {
        #if canImport(FoundationNetworking)
        Session.taskQueue.async(execute: work)
        #else
        work()
        #endif
    }
}

/// Which exchange the events of a task belong to.
final class ExchangeRegistry: Sendable {
    private let exchanges = Locked<[Int: Exchange]>([:])

    func add(_ exchange: Exchange, for task: URLSessionTask) {
        exchanges.withLock { $0[task.taskIdentifier] = exchange }
    }

    func exchange(of task: URLSessionTask) -> Exchange? {
        exchanges.withLock { $0[task.taskIdentifier] }
    }

    /// Removes a task that has no more events to come.
    func remove(_ task: URLSessionTask) -> Exchange? {
        exchanges.withLock { $0.removeValue(forKey: task.taskIdentifier) }
    }
}
