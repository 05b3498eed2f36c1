import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

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
