#if os(Linux)
import CCurl
import Glibc
import SluiceHTTP

extension EasyHandle {
    /// What libcurl measured of the transfer that has just ended.
    mutating func metrics() -> TransferMetrics {
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
        metrics.remoteAddress = remoteAddress()
        return metrics
    }

    /// Address and port of the other end; made anew only where they differ from the last transfer's.
    private mutating func remoteAddress() -> String? {
        var bytes: UnsafePointer<CChar>?
        sluice_easy_get_string(raw, CURLINFO_PRIMARY_IP, &bytes)
        guard let bytes, bytes[0] != 0 else { return nil }
        let port = long(CURLINFO_PRIMARY_PORT)
        if port != peer.port || strcmp(bytes, peer.ip) != 0 {
            let ip = String(cString: bytes)
            peer = Peer(
                ip: ip,
                port: port,
                text: ip.utf8.contains(UInt8(ascii: ":")) ? "[\(ip)]:\(port)" : "\(ip):\(port)"
            )
        }
        return peer.text
    }
}
#endif
