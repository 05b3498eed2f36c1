#if os(Linux)
import CSSL
import Glibc

/// The functions by which OpenSSL reads and writes a stream of TLS through another one, in place of a socket.
///
/// They are called within the calls of the inner stream, on the same thread and under the same lock. The outer stream leaves the error
/// queue of OpenSSL empty, so that the inner one finds no error but its own; an alert of the inner one, whose error is in the queue
/// already, is written without a look at it.
enum NestedTLS {
    /// The BIO_METHOD, as a bit pattern since pointers are not Sendable; it stays for the life of the process.
    static let method = UInt(bitPattern: sluice_tls_nested_method())

    static let read:
        @convention(c) (
            UnsafeMutableRawPointer?, UnsafeMutableRawPointer?, Int32, UnsafeMutablePointer<Int32>?
        ) -> Int32 = { outer, bytes, count, error in
            guard let stream = NestedTLS.stream(outer) else { return SLUICE_TLS_FAILED }
            return stream.read(into: UnsafeMutableRawBufferPointer(start: bytes, count: Int(count))).result(error)
        }

    static let write:
        @convention(c) (
            UnsafeMutableRawPointer?, UnsafeRawPointer?, Int32, UnsafeMutablePointer<Int32>?
        ) -> Int32 = { outer, bytes, count, error in
            guard let stream = NestedTLS.stream(outer) else { return SLUICE_TLS_FAILED }
            let bytes = UnsafeRawBufferPointer(start: bytes, count: Int(count))
            return (ERR_peek_error() == 0 ? stream.write(bytes) : stream.writeAlert(bytes)).result(error)
        }

    private static func stream(_ outer: UnsafeMutableRawPointer?) -> TLSStream? {
        outer.map { Unmanaged<TLSStream>.fromOpaque($0).takeUnretainedValue() }
    }
}

extension TLSStream.Transfer {
    /// The transfer as the BIO takes it.
    fileprivate func result(_ error: UnsafeMutablePointer<Int32>?) -> Int32 {
        switch self {
        case .bytes(let count): return Int32(clamping: count)
        case .wantsRead: return SLUICE_TLS_WANTS_READ
        case .wantsWrite: return SLUICE_TLS_WANTS_WRITE
        case .closed: return 0
        case .failed(let number):
            // An alert of the outer TLS has no number of the system's.
            error?.pointee = number == 0 ? EPROTO : number
            return SLUICE_TLS_FAILED
        }
    }
}
#endif
