#if os(Linux)
import CCurl
import SluiceHTTP

extension EasyHandle {
    /// What libcurl measured of the transfer that has just ended.
    func metrics() -> TransferMetrics {
        var metrics = TransferMetrics()
        metrics.isConnectionReused = long(CURLINFO_NUM_CONNECTS) == 0
        if !metrics.isConnectionReused {
            metrics.nameLookup = .microseconds(offset(CURLINFO_NAMELOOKUP_TIME_T))
            metrics.connect = .microseconds(offset(CURLINFO_CONNECT_TIME_T))
            metrics.tls = .microseconds(offset(CURLINFO_APPCONNECT_TIME_T))
        }
        metrics.firstByte = .microseconds(offset(CURLINFO_STARTTRANSFER_TIME_T))
        metrics.total = .microseconds(offset(CURLINFO_TOTAL_TIME_T))
        metrics.bytesSent = offset(CURLINFO_SIZE_UPLOAD_T)
        metrics.bytesReceived = offset(CURLINFO_SIZE_DOWNLOAD_T)
        if let address = string(CURLINFO_PRIMARY_IP), !address.isEmpty {
            let host = address.utf8.contains(UInt8(ascii: ":")) ? "[\(address)]" : address
            metrics.remoteAddress = "\(host):\(long(CURLINFO_PRIMARY_PORT))"
        }
        return metrics
    }
}
#endif
