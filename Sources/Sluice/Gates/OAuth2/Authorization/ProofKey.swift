#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The verifier that only the client knows, and the challenge that shows it (RFC 7636 §4).
struct ProofKey: Sendable, Equatable {
    /// 43 characters or more that no URL needs to encode.
    let verifier: String

    /// The `code_challenge` of the method S256; nil where the system's library refuses.
    var challenge: String? {
        SystemSHA256.digest(of: Array(verifier.utf8)).map(\.base64URL)
    }
}

extension [UInt8] {
    /// Base64 with the alphabet for URLs and without padding (RFC 4648 §5).
    var base64URL: String {
        let text = Data(self).base64EncodedString().utf8.compactMap { byte -> UInt8? in
            switch byte {
            case UInt8(ascii: "+"): UInt8(ascii: "-")
            case UInt8(ascii: "/"): UInt8(ascii: "_")
            case UInt8(ascii: "="): nil
            default: byte
            }
        }
        return String(decoding: text, as: UTF8.self)
    }
}
