import SluiceHTTP

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A response of the authorization server (RFC 6749 §5).
struct TokenResponse: Sendable {
    let status: HTTPStatus
    let body: Data
    /// The secrets that must not appear in the text of an error.
    var secrets: [String] = []

    /// Returns the token in the response.
    ///
    /// - Parameters:
    ///   - date: The time of the request for the token, at which its lifetime starts.
    ///   - acceptsMissingType: True to treat a token without a type as a Bearer token.
    /// - Returns: The token, which may already have expired, or the server's error, which some
    ///   servers send with status 200.
    func token(at date: Date, acceptsMissingType: Bool = false) -> Result<OAuth2.Token, OAuth2Error> {
        guard status.isSuccess, let members = try? JSON(parsing: body).dictionary, members["error"]?.string == nil
        else {
            return .failure(error)
        }
        guard let accessToken = members["access_token"]?.string, accessToken.isBearerToken else {
            return .failure(invalid("it has no access_token"))
        }
        switch members["token_type"] ?? .null {
        case .string(let type) where type.lowercased() == "bearer": break
        case .null where acceptsMissingType: break
        case .null: return .failure(invalid("it has no token_type"))
        default: return .failure(invalid("its token_type is not Bearer"))
        }
        var token = OAuth2.Token(accessToken: accessToken)
        switch lifetime(members["expires_in"] ?? .null) {
        case .failure(let error): return .failure(error)
        case .success(let lifetime): token.expiresAt = lifetime.map(date.addingTimeInterval)
        }
        guard let refreshToken = text(members["refresh_token"]), let scope = text(members["scope"]) else {
            return .failure(invalid("its refresh_token or scope is no text"))
        }
        token.refreshToken = refreshToken
        token.scope = scope
        return .success(token)
    }

    /// The server's error, or ``OAuth2Error/Code/invalidResponse`` if the body is not an OAuth error.
    var error: OAuth2Error {
        guard let members = try? JSON(parsing: body).dictionary, let word = members["error"]?.string,
            !word.isEmpty, word.utf8.count <= 100, word.utf8.allSatisfy({ (0x20...0x7E).contains($0) }),
            redacted(word) == word
        else {
            let what = body.isEmpty ? "nothing" : "what is no OAuth 2.0"
            return OAuth2Error(.invalidResponse, "it holds \(what), with the status \(status)", status: status)
        }
        return OAuth2Error(
            OAuth2Error.Code(rawValue: word),
            members["error_description"]?.string.map(redacted),
            uri: members["error_uri"]?.string.map(redacted),
            status: status
        )
    }

    private func invalid(_ detail: String) -> OAuth2Error {
        OAuth2Error(.invalidResponse, detail, status: status)
    }

    /// Parses a lifetime in seconds; nil if there is none. Some servers send the number as a string.
    private func lifetime(_ value: JSON) -> Result<TimeInterval?, OAuth2Error> {
        let seconds: Double?
        switch value {
        case .null: return .success(nil)
        case .number(let number): seconds = number.double
        case .string(let text): seconds = JSONNumber(text)?.double
        default: seconds = nil
        }
        guard let seconds else { return .failure(invalid("its expires_in is no number")) }
        // Clamped to about 95 years, within which dates are exact.
        return .success(min(max(seconds, -3e9), 3e9))
    }

    /// Parses an optional string. Absent, null and empty are the same. The outer optional is nil for any other type.
    private func text(_ value: JSON?) -> String?? {
        switch value ?? .null {
        case .null: .some(nil)
        case .string(let text): .some(text.isEmpty ? nil : text)
        default: nil
        }
    }

    /// The server's text as one line of at most 300 characters, without control characters and secrets.
    private func redacted(_ text: String) -> String {
        let start = String(decoding: text.utf8.prefix(16 << 10), as: UTF8.self)
        let text = secrets.reduce(start) { $0.hiding($1) }
        let printable = text.unicodeScalars.map { $0.properties.generalCategory == .control ? " " : $0 }
        return String(String.UnicodeScalarView(printable.prefix(300)))
    }
}

extension String {
    /// Replaces a secret byte by byte, because its last byte and the text after it may form one character.
    fileprivate func hiding(_ secret: String) -> String {
        let (secret, bytes) = (Array(secret.utf8), Array(utf8))
        var output: [UInt8] = []
        var index = 0
        while index < bytes.count {
            if !secret.isEmpty, bytes[index...].starts(with: secret) {
                output += "…".utf8
                index += secret.count
            } else {
                output.append(bytes[index])
                index += 1
            }
        }
        return String(decoding: output, as: UTF8.self)
    }
}
