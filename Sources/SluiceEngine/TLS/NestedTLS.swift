#if os(Linux)
import CSSL
import Glibc

/// The functions that OpenSSL uses to read and write one TLS stream through another instead of a socket.
///
/// OpenSSL calls them during calls of the inner stream, on the same thread and under the same lock. The outer stream leaves OpenSSL's
/// error queue empty, so that the inner stream finds only its own errors. While the inner stream sends an alert, its error is already in
/// the queue and is preserved.
enum NestedTLS {
    /// The BIO_METHOD as a bit pattern, because pointers are not Sendable. It is never freed.
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
    /// Returns the transfer in the form for the BIO.
    fileprivate func result(_ error: UnsafeMutablePointer<Int32>?) -> Int32 {
        switch self {
        case .bytes(let count): return Int32(clamping: count)
        case .wantsRead: return SLUICE_TLS_WANTS_READ
        case .wantsWrite: return SLUICE_TLS_WANTS_WRITE
        case .closed: return 0
        case .failed(let number):
            // An alert of the outer TLS has no error number of the system.
            error?.pointee = number == 0 ? EPROTO : number
            return SLUICE_TLS_FAILED
        }
    }
}
#endif
