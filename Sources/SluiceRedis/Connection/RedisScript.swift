#if os(Linux)
import CCrypto
import SluiceFoundation
import SluiceHTTP

/// A script in Lua that the server runs as one step.
///
/// ```swift
/// let script = RedisScript("return redis.call('INCRBY', KEYS[1], ARGV[1])")
/// let sum = try await redis.run(script, keys: ["visits"], arguments: [5]).int
/// ```
public struct RedisScript: Sendable {
    /// The text of the script.
    public let source: String
    /// True if the script may run again after its connection was lost, although the server may have run it.
    public let isIdempotent: Bool
    /// The SHA-1 of the source in hexadecimal digits, by which servers name it.
    private let hash: String?

    /// Creates a script.
    ///
    /// - Parameters:
    ///   - source: The text of the script.
    ///   - isIdempotent: True if the script may run again after its connection was lost. False by default.
    public init(_ source: String, isIdempotent: Bool = false) {
        self.source = source
        self.isIdempotent = isIdempotent
        var digest = [UInt8](repeating: 0, count: 20)
        let bytes = Array(source.utf8)
        sluice_keep_crypto()
        let isHashed = EVP_Digest(bytes, bytes.count, &digest, nil, EVP_sha1(), nil) == 1
        hash = isHashed ? HexText.text(of: digest[...]) : nil
    }

    /// Returns the command that runs the script.
    func command(keys: [String], arguments: [any RedisArgument], isHash: Bool) -> RedisCommand {
        var words: [any RedisArgument] = [keys.count]
        words += keys
        words += arguments
        // Where SHA-1 is not permitted (FIPS), the whole script is sent.
        if isHash, let hash { return RedisCommand("EVALSHA", arguments: [hash] + words, isIdempotent: isIdempotent) }
        return RedisCommand("EVAL", arguments: [source] + words, isIdempotent: isIdempotent)
    }
}
#endif
