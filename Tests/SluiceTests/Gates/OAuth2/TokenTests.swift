import Foundation
import Testing

@testable import Sluice

@Suite struct TokenTests {
    private static let token = OAuth2.Token(
        accessToken: "access-s3cret",
        expiresAt: Date(timeIntervalSince1970: 1_800_000_000.25),
        refreshToken: "refresh-s3cret",
        scope: "read"
    )

    @Test(arguments: [token, .init(accessToken: "a"), .init(accessToken: "a", tokenType: "bearer", scope: "")])
    func roundTripsThroughJSON(_ token: OAuth2.Token) throws {
        #expect(try JSONDecoder().decode(OAuth2.Token.self, from: JSONEncoder().encode(token)) == token)
    }

    @Test func encodesWithNamesOfTheRFC() throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        let text = String(decoding: try encoder.encode(Self.token), as: UTF8.self)
        #expect(
            text == #"{"access_token":"access-s3cret","expires_at":1800000000.25,"refresh_token":"refresh-s3cret","#
                + #""scope":"read","token_type":"Bearer"}"#
        )
    }

    @Test(arguments: ["{}", #"{"access_token":""}"#, #"{"access_token":"a\nb"}"#, #"{"access_token":1}"#, "[]"])
    func rejectsInvalidJSON(_ text: String) {
        #expect(throws: DecodingError.self) { try JSONDecoder().decode(OAuth2.Token.self, from: Data(text.utf8)) }
    }

    @Test func descriptionsContainNoSecret() {
        var shown = "\(Self.token) \(String(reflecting: Self.token)) \([Self.token])"
        dump(Self.token, to: &shown)
        shown += "\(MemoryTokenStore(Self.token))"
        #expect(!shown.contains("s3cret"))
        #expect(shown.contains("read"))
    }

    @Test(arguments: [(-1.0, true), (0, true), (1, false)])
    func expiresAtExpirationDate(_ left: Double, _ expected: Bool) {
        let date = Date(timeIntervalSince1970: 1000)
        #expect(OAuth2.Token(accessToken: "a", expiresAt: date + left).hasExpired(at: date) == expected)
        #expect(!OAuth2.Token(accessToken: "a").hasExpired(at: date))
    }
}
