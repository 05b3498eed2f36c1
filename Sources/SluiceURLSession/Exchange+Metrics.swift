#if !canImport(FoundationNetworking)
import Foundation
import SluiceHTTP

extension Exchange {
    /// Adopts the session's metrics of the transfer.
    func measure(_ transaction: URLSessionTaskTransactionMetrics) {
        measure { $0.take(transaction) }
    }
}

extension TransferMetrics {
    fileprivate mutating func take(_ transaction: URLSessionTaskTransactionMetrics) {
        guard let start = transaction.fetchStartDate else { return }
        func offset(_ date: Date?) -> Duration {
            date.map { .seconds(max(0, $0.timeIntervalSince(start))) } ?? .zero
        }
        isConnectionReused = transaction.isReusedConnection
        if !isConnectionReused {
            nameLookup = offset(transaction.domainLookupEndDate)
            tls = offset(transaction.secureConnectionEndDate)
            connect = max(offset(transaction.connectEndDate), tls)
        }
        firstByte = offset(transaction.responseStartDate)
        bytesSent = transaction.countOfRequestBodyBytesSent
        bytesReceived = transaction.countOfResponseBodyBytesReceived
        switch transaction.networkProtocolName {
        case "h3": version = .http3
        case "h2": version = .http2
        case "http/1.0": version = .http1_0
        default: version = .http1_1
        }
        if let address = transaction.remoteAddress, let port = transaction.remotePort {
            remoteAddress = address.contains(":") ? "[\(address)]:\(port)" : "\(address):\(port)"
        }
    }
}
#endif
