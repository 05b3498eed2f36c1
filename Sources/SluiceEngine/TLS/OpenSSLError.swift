#if os(Linux)
import CSSL

/// An error from OpenSSL's error queue of the calling thread.
struct OpenSSLError {
    let code: UInt
    /// The message of OpenSSL, such as `tlsv13 alert certificate required`.
    let words: String

    /// Returns the oldest error of the queue, which caused the later ones, and empties the queue.
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

    /// Returns the message of the oldest error, or the given one if there is no error, and empties the queue.
    static func takeWords(or words: String) -> String { take()?.words ?? words }

    /// The reason code of an error that the SSL library of OpenSSL reports. Nil for other libraries.
    var reasonOfTLS: Int32? {
        // ERR_GET_LIB and ERR_GET_REASON are inline functions on these bits.
        guard (code >> 23) & 0xFF == UInt(ERR_LIB_SSL) else { return nil }
        return Int32(truncatingIfNeeded: code & 0x7F_FFFF)
    }
}
#endif
