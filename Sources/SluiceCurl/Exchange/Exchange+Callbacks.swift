#if os(Linux)
import CCurl
import Glibc

extension Exchange {
    /// Tells libcurl where to bring what it receives and where to fetch what it sends.
    func setCallbacks(_ context: UnsafeMutableRawPointer) {
        handle.set(CURLOPT_HEADERDATA, pointer: context)
        handle.set(CURLOPT_HEADERFUNCTION) { bytes, size, count, context in
            guard let exchange = Exchange.from(context) else { return 0 }
            let length = size * count
            return exchange.receive(header: UnsafeRawBufferPointer(start: bytes, count: length)) ? length : 0
        }
        handle.set(CURLOPT_WRITEDATA, pointer: context)
        handle.set(CURLOPT_WRITEFUNCTION) { bytes, size, count, context in
            guard let exchange = Exchange.from(context) else { return 0 }
            let length = size * count
            return switch exchange.receive(body: UnsafeRawBufferPointer(start: bytes, count: length)) {
            case true?: length
            // Anything but the length stops the transfer; none is ever one byte more.
            case false?: length + 1
            case nil: sluice_write_pause
            }
        }
        handle.set(CURLOPT_READDATA, pointer: context)
        handle.set(CURLOPT_READFUNCTION) { bytes, size, count, context in
            guard let exchange = Exchange.from(context) else { return sluice_read_abort }
            return exchange.send(into: UnsafeMutableRawBufferPointer(start: bytes, count: size * count))
        }
        handle.set(CURLOPT_SEEKDATA, pointer: context)
        handle.note(
            sluice_easy_set_seek_callback(handle.raw) { context, offset, origin in
                guard let exchange = Exchange.from(context), offset == 0, origin == SEEK_SET else {
                    return CURL_SEEKFUNC_FAIL
                }
                return exchange.rewind() ? CURL_SEEKFUNC_OK : CURL_SEEKFUNC_FAIL
            }
        )
        handle.set(CURLOPT_PREREQDATA, pointer: context)
        handle.note(
            sluice_easy_set_request_callback(handle.raw) { context, remote, _, remotePort, port in
                let mayRequest = Exchange.from(context)?.mayRequest(at: remote, remotePort, from: port) == true
                return mayRequest ? CURL_PREREQFUNC_OK : CURL_PREREQFUNC_ABORT
            }
        )
        handle.set(CURLOPT_OPENSOCKETDATA, pointer: context)
        handle.note(
            sluice_easy_set_open_socket_callback(handle.raw) { context, _, address in
                guard let exchange = Exchange.from(context), let address else { return CURL_SOCKET_BAD }
                return exchange.openSocket(to: address)
            }
        )
        setTrafficCallback(context)
        engine.observeSockets(of: &handle)
        observeHandshakes()
    }

    /// The exchange behind a callback's context; it outlives its handle's stay in the multi handle.
    static func from(_ context: UnsafeMutableRawPointer?) -> Exchange? {
        context.map { Unmanaged<Exchange>.fromOpaque($0).takeUnretainedValue() }
    }
}
#endif
