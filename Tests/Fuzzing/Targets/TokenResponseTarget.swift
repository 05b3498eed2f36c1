@testable import Sluice
@testable import SluiceCache
@testable import SluiceHTTP
@testable import SluiceJSON

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension FuzzTarget {
    /// Parses a token response and the query of a redirect. A token can be sent and stored, and no error contains a secret.
    static let tokenResponse = FuzzTarget("token-response") { bytes in
        let input = FuzzInput(bytes)
        let now = Date(timeIntervalSince1970: 1_767_225_600)
        let confidential = "zq7Wx39"
        for status in [HTTPStatus.ok, .badRequest] {
            let response = TokenResponse(status: status, body: input.data, secrets: [confidential])
            switch response.token(at: now, acceptsMissingType: bytes.count.isMultiple(of: 2)) {
            case .success(let token):
                try require(status == .ok && token.accessToken.isBearerToken, "An invalid token is accepted.")
                let again = try JSONDecoder().decode(OAuth2.Token.self, from: JSONEncoder().encode(token))
                try require(again.accessToken == token.accessToken, "The access token does not round-trip.")
                try require(
                    again.refreshToken == token.refreshToken && again.scope == token.scope,
                    "The refresh token or the scope does not round-trip."
                )
                let difference = again.expiresAt.map { $0.timeIntervalSince(token.expiresAt ?? .distantPast) } ?? 0
                try require(abs(difference) < 1e-3, "The expiry does not round-trip.")
                let isLong = token.accessToken.utf8.count > 24
                try require(
                    !isLong || !"\(token)".containsBytes(of: token.accessToken) || token.scope != nil,
                    "A description contains the token."
                )
            case .failure(let error):
                try require(!"\(error)".containsBytes(of: confidential), "An error contains the secret: \(error)")
                let isPrintable = "\(error)".unicodeScalars.allSatisfy { $0.properties.generalCategory != .control }
                try require(
                    isPrintable && "\(error)".unicodeScalars.count < 1200,
                    "An error is too long or contains a control character: \(error)"
                )
            }
        }
        try checkRedirect(input.text)
    }

    private static func checkRedirect(_ text: String) throws {
        // A redirect without the expected state must be refused.
        let state = "state-1b2c"
        if !text.containsBytes(of: state) {
            try require(
                (try? AuthorizationResponse(text).code(state: state, issuer: nil)) == nil,
                "A code is accepted without the expected state."
            )
        }
        let code = percentEncoded(text)
        let redirect = "http://127.0.0.1/?code=\(code)&state=\(state)&iss=\(code)#\(text)"
        guard let read = try? AuthorizationResponse(redirect).code(state: state, issuer: text) else {
            return try require(text.isEmpty, "A valid code is rejected.")
        }
        try require(read.isSame(as: text), "The code differs.")
    }
}
