#if os(Linux)
import CCurl
#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif
import Glibc
import SluiceEngine
import SluiceHTTP

extension Exchange {
    /// Bodies up to this many bytes go out in one piece with the head.
    static let inlineBody = 64 << 10
    static let receiveBuffer = 64 << 10
    private static let sendBuffer = 256 << 10

    /// Sets the options that every transfer of a transport shares; the handle keeps them.
    func setGeneralOptions(_ configuration: CurlTransport.Configuration) {
        let context = Unmanaged.passUnretained(self).toOpaque()
        handle.set(CURLOPT_PRIVATE, pointer: context)
        handle.set(CURLOPT_NOSIGNAL, 1)
        handle.note(sluice_easy_allow_http_only(handle.raw))
        handle.set(CURLOPT_PATH_AS_IS, 1)
        handle.set(CURLOPT_DISALLOW_USERNAME_IN_URL, 1)
        handle.set(CURLOPT_BUFFERSIZE, Exchange.receiveBuffer)
        handle.set(CURLOPT_UPLOAD_BUFFERSIZE, Exchange.sendBuffer)
        if configuration.decompressesResponses { handle.set(CURLOPT_ACCEPT_ENCODING, string: "") }
        handle.set(CURLOPT_MAXAGE_CONN, configuration.idleConnectionTimeout.wholeSeconds)
        // None is 0 here.
        handle.set(CURLOPT_MAXLIFETIME_CONN, configuration.connectionLifetime.map { max(1, $0.wholeSeconds) } ?? 0)
        setCallbacks(context)
        setPlan(.standard)
    }

    /// Sets the options of one transfer; the first that fails is kept in the handle.
    func setOptions(for transfer: Transfer) {
        let request = transfer.request
        showTraffic(false)
        setURL(request)
        setPlan(transfer.plan)
        setVersion(transfer)
        // There is one Cookie field in a request (RFC 6265 §5.4): its own, or the jar's.
        setCookies(request.headers.contains(.cookie) ? nil : transfer.context.cookies)
        if request.headers.contains(.host) { hadOwnHost = true }
        setConnectTimeout(transfer.context.timeouts.connect)
        if let credentials = transfer.credentials { setCredentials(credentials, transfer) }
        var suppressed: [StaticString] = []
        if request.method != .get || !request.body.isNone {
            setMethodAndBody(transfer, suppressed: &suppressed)
            hasMethodOptions = true
        } else if hasMethodOptions {
            unsetMethodAndBody()
            hasMethodOptions = false
        }
        setWeight(transfer.context.priority)
        headers.set(request.headers, suppressing: suppressed, omittingExpect: request.headers.expectsContinue)
        handle.set(CURLOPT_HTTPHEADER, pointer: headers.head)
    }

    private func setURL(_ request: HTTPRequest) {
        var url = request.url
        url.append("\0")
        url.withUTF8 { bytes in
            bytes.withMemoryRebound(to: CChar.self) { handle.set(CURLOPT_URL, string: $0.baseAddress) }
        }
    }

    private func setConnectTimeout(_ timeout: Duration?) {
        // libcurl takes 0 for its own default of five minutes; its largest value stands for none.
        let milliseconds = timeout.map { max(1, Int($0.nanoseconds / 1_000_000)) } ?? Int(Int32.max)
        guard milliseconds != connectTimeout else { return }
        connectTimeout = milliseconds
        handle.set(CURLOPT_CONNECTTIMEOUT_MS, min(milliseconds, Int(Int32.max)))
    }

    private func unsetMethodAndBody() {
        // In this order: setting the fields, even to none, makes it a POST.
        handle.set(CURLOPT_POSTFIELDS, pointer: nil)
        handle.set(CURLOPT_HTTPGET, 1)
        handle.set(CURLOPT_CUSTOMREQUEST, string: nil)
        handle.set(CURLOPT_INFILESIZE_LARGE, offset: -1)
    }

    /// Sets its share of an HTTP/2 connection; the handle keeps it.
    private func setWeight(_ priority: RequestPriority) {
        let weight = priority.streamWeight
        guard weight != streamWeight else { return }
        streamWeight = weight
        // What libcurl was built without HTTP/2 does without weights too.
        _ = sluice_easy_set_long(handle.raw, CURLOPT_STREAM_WEIGHT, weight)
    }

    private func setMethodAndBody(_ transfer: Transfer, suppressed: inout [StaticString]) {
        if hasMethodOptions { unsetMethodAndBody() }
        let request = transfer.request
        let asks = request.headers.expectsContinue && transfer.upload.mayHaveContent
        if asks { askBeforeSending(transfer.context.timeouts.continueWait) }
        switch transfer.upload {
        case .none where request.method == .head:
            handle.set(CURLOPT_NOBODY, 1)
            return
        case .none where [.post, .put, .patch].contains(request.method):
            // These announce that nothing follows (RFC 9110 §8.6).
            setInline(Data())
        case .none:
            break
        case .data(let data) where data.count <= Exchange.inlineBody && !asks:
            setInline(data)
        case .data(let data):
            setStreamed(length: Int64(data.count))
        case .stream(_, let length, _):
            setStreamed(length: length)
        }
        handle.set(CURLOPT_CUSTOMREQUEST, string: request.method.rawValue)
        // libcurl would wait for a 100 where nobody has asked for that, and call an inline body a form.
        if !asks, !request.headers.contains(.expect) || request.headers.expectsContinue { suppressed.append("Expect") }
        if !request.headers.contains(.contentType) { suppressed.append("Content-Type") }
    }

    private func setInline(_ data: Data) {
        handle.set(CURLOPT_POST, 1)
        handle.set(CURLOPT_POSTFIELDSIZE_LARGE, offset: Int64(data.count))
        // An empty body's buffer has no address, which libcurl would take for a body to be read by callback.
        if data.isEmpty { return handle.set(CURLOPT_COPYPOSTFIELDS, string: "") }
        data.withUnsafeBytes { bytes in
            handle.set(CURLOPT_COPYPOSTFIELDS, pointer: UnsafeMutableRawPointer(mutating: bytes.baseAddress))
        }
    }

    private func setStreamed(length: Int64?) {
        handle.set(CURLOPT_UPLOAD, 1)
        handle.set(CURLOPT_INFILESIZE_LARGE, offset: length ?? -1)
    }
}
#endif
