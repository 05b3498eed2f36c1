#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A PKCE code verifier and its challenge (RFC 7636 §4).
struct ProofKey: Sendable, Equatable {
    /// 43 or more characters that need no encoding in URLs.
    let verifier: String

    /// The `code_challenge` for the method S256; nil if the system's library fails.
    var challenge: String? {
        SystemSHA256.digest(of: Array(verifier.utf8)).map(\.base64URL)
    }
}

extension [UInt8] {
    /// The bytes in base64url without padding (RFC 4648 §5).
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
