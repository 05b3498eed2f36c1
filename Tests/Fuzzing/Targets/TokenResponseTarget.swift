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
                try promise(status == .ok && token.accessToken.isBearerToken, "What is no token is taken for one.")
                let again = try JSONDecoder().decode(OAuth2.Token.self, from: JSONEncoder().encode(token))
                try promise(again.accessToken == token.accessToken, "A kept token is another.")
                try promise(again.refreshToken == token.refreshToken && again.scope == token.scope, "It is another.")
                let difference = again.expiresAt.map { $0.timeIntervalSince(token.expiresAt ?? .distantPast) } ?? 0
                try promise(abs(difference) < 1e-3, "A kept token expires at another time.")
                let isLong = token.accessToken.utf8.count > 24
                try promise(!isLong || !"\(token)".holds(token.accessToken) || token.scope != nil, "A token is told.")
            case .failure(let error):
                try promise(!"\(error)".holds(confidential), "A secret is told: \(error)")
                let isPrintable = "\(error)".unicodeScalars.allSatisfy { $0.properties.generalCategory != .control }
                try promise(isPrintable && "\(error)".unicodeScalars.count < 1200, "An error cannot be shown: \(error)")
            }
        }
        try checkRedirect(input.text)
    }

    private static func checkRedirect(_ text: String) throws {
        // A redirect without the expected state must be refused.
        let state = "state-1b2c"
        if !text.holds(state) {
            try promise(
                (try? AuthorizationResponse(text).code(state: state, issuer: nil)) == nil,
                "A code is believed."
            )
        }
        let code = percentEncoded(text)
        let redirect = "http://127.0.0.1/?code=\(code)&state=\(state)&iss=\(code)#\(text)"
        guard let read = try? AuthorizationResponse(redirect).code(state: state, issuer: text) else {
            return try promise(text.isEmpty, "A code is not read.")
        }
        try promise(read.isSame(as: text), "A code is another.")
    }
}
