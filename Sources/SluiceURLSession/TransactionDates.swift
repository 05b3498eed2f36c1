import Foundation
import SluiceHTTP

/// The dates of a transaction as the session measures them; nil for what the transaction did not have.
struct TransactionDates: Sendable {
    /// The start, from which the times count.
    let start: Date
    var nameLookupEnd: Date?
    var secureConnectionStart: Date?
    var secureConnectionEnd: Date?
    /// The end of the connection, which includes TLS.
    var connectEnd: Date?
    var responseStart: Date?
}

extension TransferMetrics {
    /// Sets the times of a transaction. Those of the connection stay zero if it was reused.
    mutating func set(_ dates: TransactionDates) {
        func offset(_ date: Date?) -> Duration {
            date.map { .seconds(max(0, $0.timeIntervalSince(dates.start))) } ?? .zero
        }
        firstByte = offset(dates.responseStart)
        if isConnectionReused { return }
        nameLookup = offset(dates.nameLookupEnd)
        // TLS begins when the connection is established.
        connect = offset(dates.secureConnectionStart ?? dates.connectEnd)
        tls = offset(dates.secureConnectionEnd)
    }
}

// MARK: - Metrics of Apple's platforms

#if !canImport(FoundationNetworking)
extension SessionTransfer {
    /// Replaces the metrics with the session's.
    func measure(_ transaction: URLSessionTaskTransactionMetrics) {
        measure { $0.set(transaction) }
    }
}

extension TransferMetrics {
    fileprivate mutating func set(_ transaction: URLSessionTaskTransactionMetrics) {
        guard let start = transaction.fetchStartDate else { return }
        isConnectionReused = transaction.isReusedConnection
        set(
            TransactionDates(
                start: start,
                nameLookupEnd: transaction.domainLookupEndDate,
                secureConnectionStart: transaction.secureConnectionStartDate,
                secureConnectionEnd: transaction.secureConnectionEndDate,
                connectEnd: transaction.connectEndDate,
                responseStart: transaction.responseStartDate
            )
        )
        bytesSent = transaction.countOfRequestBodyBytesBeforeEncoding
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
