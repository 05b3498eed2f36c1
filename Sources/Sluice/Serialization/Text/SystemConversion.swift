#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Foundation
#endif

/// Decodes the charsets that the system supports.
enum SystemConversion {
    #if canImport(Glibc) || canImport(Musl)
    /// Decodes with iconv. Its names come from the table in ``Charset``, never from a server.
    static func decode(_ bytes: UnsafeRawBufferPointer, named _: String, iconvName: String) -> TextConversion {
        let converter = iconv_open("UTF-8", iconvName)
        // `iconv_open` returns -1 as a pointer on failure.
        guard let converter, Int(bitPattern: converter) != -1 else { return .unavailable }
        defer { iconv_close(converter) }
        // The parameter type is `char **` for historical reasons; iconv does not write to the input.
        var input = UnsafeMutablePointer(mutating: bytes.assumingMemoryBound(to: CChar.self).baseAddress)
        var inputLeft = bytes.count
        var output: [UInt8] = []
        output.reserveCapacity(bytes.count &+ bytes.count / 2)
        var chunk = [UInt8](repeating: 0, count: 16 << 10)
        var isFlushing = bytes.isEmpty
        while true {
            let before = inputLeft
            var written = 0
            let result = chunk.withUnsafeMutableBytes { chunk in
                var target = chunk.assumingMemoryBound(to: CChar.self).baseAddress
                var targetLeft = chunk.count
                // A call without input flushes the characters that iconv holds back, because some charsets combine
                // characters.
                let result =
                    isFlushing
                    ? iconv(converter, nil, nil, &target, &targetLeft)
                    : iconv(converter, &input, &inputLeft, &target, &targetLeft)
                let reason = errno
                written = chunk.count - targetLeft
                return (isError: result == -1, isOutOfRoom: reason == E2BIG)
            }
            output += chunk[..<written]
            if result.isError {
                // Stop if there is no progress, to avoid an endless loop.
                guard result.isOutOfRoom, written > 0 || inputLeft < before else {
                    return .invalid(at: bytes.count - inputLeft)
                }
            } else if isFlushing {
                return String(validating: output, as: UTF8.self).map(TextConversion.text) ?? .invalid(at: nil)
            } else {
                isFlushing = true
            }
        }
    }
    #else
    /// Decodes with Foundation by the standard's name. Foundation does not report the offset of an invalid byte.
    static func decode(_ bytes: UnsafeRawBufferPointer, named name: String, iconvName _: String) -> TextConversion {
        let encoding = CFStringConvertIANACharSetNameToEncoding(name as CFString)
        guard encoding != kCFStringEncodingInvalidId else { return .unavailable }
        let converted = CFStringConvertEncodingToNSStringEncoding(encoding)
        let text = String(data: Data(bytes), encoding: String.Encoding(rawValue: converted))
        return text.map(TextConversion.text) ?? .invalid(at: nil)
    }
    #endif
}
