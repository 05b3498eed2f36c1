import Foundation
import SluiceHTTP

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A `URLSession` that is invalidated when its last user is released: the transport, or a transfer that outlives it.
final class Session: Sendable {
    private let session: URLSession
    private let transfers = TransferRegistry()
    #if canImport(FoundationNetworking)
    private static let taskQueue = DispatchQueue(label: "sluice.urlsession.tasks")
    #else
    var isBackground: Bool { session.configuration.identifier != nil }
    #endif

    init(configuration: URLSessionConfiguration) {
        // A serial queue keeps the order of received data.
        let queue = OperationQueue()
        queue.name = "sluice.urlsession"
        queue.maxConcurrentOperationCount = 1
        session = URLSession(
            configuration: configuration,
            delegate: SessionDelegate(transfers: transfers),
            delegateQueue: queue
        )
    }

    deinit {
        // The session retains its delegate until it is invalidated.
        session.finishTasksAndInvalidate()
    }

    /// Runs work in order with the delegate callbacks of the session's tasks.
    func enqueue(_ work: @escaping @Sendable () -> Void) {
        session.delegateQueue.addOperation(work)
    }

    /// Creates a task whose events are passed to the transfer.
    func makeTask(for transfer: SessionTransfer, _ message: URLRequest, _ payload: Payload) -> URLSessionTask {
        let task: URLSessionTask =
            switch payload {
            case .none: session.dataTask(with: message)
            case .data(let data): session.uploadTask(with: message, from: data)
            case .file(let url): session.uploadTask(with: message, fromFile: url)
            case .stream(let open): makeStreamTask(message, open)
            }
        transfers.add(transfer, for: task)
        return task
    }

    func stop(_ task: URLSessionTask) {
        withTasks { task.cancel() }
    }

    private func makeStreamTask(_ message: URLRequest, _ open: Payload.OpenStream) -> URLSessionTask {
        #if canImport(FoundationNetworking)
        // Foundation on Linux has no upload tasks with streams, and does not request the first stream from its
        // delegate.
        var message = message
        message.httpBodyStream = open()
        return session.dataTask(with: message)
        #else
        return session.uploadTask(withStreamedRequest: message)
        #endif
    }
}

extension Session {
    /// Runs work that creates, starts or cancels a task.
    ///
    /// On Linux these calls block on a queue that all sessions of the process share. They run on a serial queue, so
    /// that no thread of the caller blocks, and never more than one thread in all.
    func withTasks(_ work: @escaping @Sendable () -> Void) {
        #if canImport(FoundationNetworking)
        Session.taskQueue.async(execute: work)
        #else
        work()
        #endif
    }
}

/// The transfers of running tasks, by task.
final class TransferRegistry: Sendable {
    private let transfers = Locked<[Int: SessionTransfer]>([:])

    func add(_ transfer: SessionTransfer, for task: URLSessionTask) {
        transfers.withLock { $0[task.taskIdentifier] = transfer }
    }

    func transfer(of task: URLSessionTask) -> SessionTransfer? {
        transfers.withLock { $0[task.taskIdentifier] }
    }

    /// Removes a completed task and returns its transfer.
    func remove(_ task: URLSessionTask) -> SessionTransfer? {
        transfers.withLock { $0.removeValue(forKey: task.taskIdentifier) }
    }
}

extension URLSessionConfiguration {
    /// A configuration that stores nothing between requests except open connections.
    static var transport: URLSessionConfiguration {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.urlCache = nil
        configuration.requestCachePolicy = .reloadIgnoringLocalCacheData
        configuration.httpCookieStorage = nil
        configuration.httpCookieAcceptPolicy = .never
        configuration.httpShouldSetCookies = false
        configuration.urlCredentialStorage = nil
        configuration.httpMaximumConnectionsPerHost = 128
        return configuration
    }
}

// MARK: - Session delegate

/// The session's delegate. Passes the events of tasks to their transfers, refuses redirects and answers challenges.
final class SessionDelegate: NSObject, URLSessionDataDelegate, Sendable {
    private let transfers: TransferRegistry

    init(transfers: TransferRegistry) {
        self.transfers = transfers
    }

    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest,
        completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        guard let transfer = transfers.transfer(of: task) else { return completionHandler(nil) }
        transfer.refuseRedirect { completionHandler(nil) }
    }

    func urlSession(
        _ session: URLSession,
        dataTask: URLSessionDataTask,
        didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {
        if let response = response as? HTTPURLResponse {
            transfers.transfer(of: dataTask)?.receive(response)
        }
        completionHandler(.allow)
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        transfers.transfer(of: dataTask)?.receive(data)
    }

    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        didSendBodyData bytesSent: Int64,
        totalBytesSent: Int64,
        totalBytesExpectedToSend: Int64
    ) {
        transfers.transfer(of: task)?.sent(bytesSent)
    }

    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        needNewBodyStream completionHandler: @escaping @Sendable (InputStream?) -> Void
    ) {
        completionHandler(transfers.transfer(of: task)?.openBodyStream())
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        transfers.remove(task)?.complete(task.response as? HTTPURLResponse, error)
    }

    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        #if canImport(FoundationNetworking)
        // Foundation on Linux reports a challenge after the whole response has arrived, and the task then ends only
        // when cancelled.
        transfers.transfer(of: task)?.complete(task.response as? HTTPURLResponse, nil)
        completionHandler(.cancelAuthenticationChallenge, nil)
        #else
        if let credential = transfers.transfer(of: task)?.credential(for: challenge) {
            return completionHandler(.useCredential, credential)
        }
        let methods = [
            NSURLAuthenticationMethodServerTrust, NSURLAuthenticationMethodClientCertificate,
            NSURLAuthenticationMethodNegotiate, NSURLAuthenticationMethodNTLM,
        ]
        // Rejecting the other methods returns the 401 response unchanged.
        let isOfConnection = methods.contains(challenge.protectionSpace.authenticationMethod)
        completionHandler(isOfConnection ? .performDefaultHandling : .rejectProtectionSpace, nil)
        #endif
    }

    #if !canImport(FoundationNetworking)
    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        didFinishCollecting metrics: URLSessionTaskMetrics
    ) {
        guard let transaction = metrics.transactionMetrics.last else { return }
        transfers.transfer(of: task)?.measure(transaction)
    }
    #endif
}
