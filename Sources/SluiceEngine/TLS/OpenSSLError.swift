#if os(Linux)
import CSSL

/// An error of OpenSSL's queue, which belongs to the calling thread.
struct OpenSSLError {
    let code: UInt
    /// OpenSSL's words, such as `tlsv13 alert certificate required`.
    let words: String

    /// The oldest error of the queue, which is the cause of the later ones; the queue is empty afterwards.
    static func take() -> OpenSSLError? {
        let code = ERR_peek_error()
        guard code != 0 else { return nil }
        let words: String
        if let text = ERR_reason_error_string(code) {
            words = String(cString: text)
        } else {
            words = withUnsafeTemporaryAllocation(of: CChar.self, capacity: 256) { text in
                guard let start = text.baseAddress else { return "" }
                ERR_error_string_n(code, start, text.count)
                return String(cString: start)
            }
        }
        ERR_clear_error()
        return OpenSSLError(code: code, words: words)
    }

    /// The words of the oldest error, or others where OpenSSL has none; the queue is empty afterwards.
    static func takeWords(or words: String) -> String { take()?.words ?? words }

    /// The reason within OpenSSL's part that reports the error; nil if that part is not TLS.
    var reasonOfTLS: Int32? {
        // ERR_GET_LIB and ERR_GET_REASON, which are inline functions over these bits.
        guard (code >> 23) & 0xFF == UInt(ERR_LIB_SSL) else { return nil }
        return Int32(truncatingIfNeeded: code & 0x7F_FFFF)
    }
}
#endif
