#if os(Linux)
import CCurl
import SluiceHTTP

extension Exchange {
    /// Has libcurl show a gzip body as it travels: decoding, it takes for the whole of it whatever comes before its framing ends.
    func watchEnd(of head: HTTPResponse, to transfer: Transfer) {
        gzipEnd = nil
        guard transfer.lane.configuration.decompressesResponses, transfer.request.method != .head, head.isGzip,
            head.status != .noContent, head.status != .notModified, head.headers[.contentLength] != "0"
        else { return }
        gzipEnd = GzipEnd(announced: head.headers[.contentLength].flatMap { Int64($0) })
        showTraffic(true)
    }

    func showTraffic(_ isShown: Bool) {
        guard isShown != showsTraffic else { return }
        showsTraffic = isShown
        handle.set(CURLOPT_VERBOSE, isShown ? 1 : 0)
    }

    /// Whether the end of a gzip body has not come.
    func isCutShort(decoded: Int64) -> Bool {
        // Where what was shown is not what libcurl has counted, with the framing of chunks for one, nothing can be said.
        guard let gzipEnd, gzipEnd.count == handle.offset(CURLINFO_SIZE_DOWNLOAD_T) else { return false }
        return gzipEnd.isCutShort(decoded: decoded)
    }

    /// Takes what travels, decoded only as to its framing.
    func setTrafficCallback(_ context: UnsafeMutableRawPointer) {
        handle.set(CURLOPT_DEBUGDATA, pointer: context)
        handle.note(
            sluice_easy_set_debug_callback(handle.raw) { _, type, bytes, count, context in
                if type == CURLINFO_DATA_IN {
                    Exchange.from(context)?.gzipEnd?.take(UnsafeRawBufferPointer(start: bytes, count: count))
                }
                return 0
            }
        )
    }
}

extension HTTPResponse {
    fileprivate var isGzip: Bool {
        let coding = headers[.contentEncoding]?.lowercased()
        return coding == "gzip" || coding == "x-gzip"
    }
}

extension SluiceError {
    static var encodingCutShort: SluiceError {
        SluiceError(.truncatedBody, "The response's compressed body ended before all of it had come.")
    }
}
#endif
