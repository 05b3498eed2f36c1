import Foundation
import Testing

/// The search finds secrets. Otherwise the audit would prove nothing.
@Suite struct SecretSearchTests {
    private struct Holder {
        let value: Any
    }

    private static let secret = SecretSearch().secret

    @Test(
        arguments: [
            secret, "a \(secret) b", Data("ada:\(secret)".utf8).base64EncodedString(),
            Data("x:\(secret)".utf8).base64EncodedString(), Data("\(secret):".utf8).base64EncodedString(),
        ]
    )
    func findsSecretInText(_ text: String) {
        let search = SecretSearch()
        search.look("text", text)
        search.look("holder", Holder(value: text))
        #expect(search.sightings.count == 6)
    }

    @Test func findsSecretBytesInDump() {
        let search = SecretSearch()
        search.look("bytes", Holder(value: Array("{\(Self.secret)}".utf8)))
        #expect(!search.sightings.isEmpty)
        let data = SecretSearch()
        data.look("data", Holder(value: Data(Self.secret.utf8)))
        #expect(!data.sightings.isEmpty)
    }

    @Test func ignoresOtherText() {
        let search = SecretSearch()
        search.look("text", Holder(value: "Zq7 pLaNtEd 1234 \(Date())"))
        search.look("nothing", nil)
        #expect(search.sightings.isEmpty)
        #expect(search.count == 3)
    }
}
