import Foundation
import SluiceHTTP
import Testing

@Suite struct PublicKeyPinTests {
    @Test func pinsRoundTripAlsoAfterTwoSlashes() {
        for byte in UInt8.min ... .max {
            // The base64 text of every 64th byte begins with a slash.
            let pin = PublicKeyPin(sha256: Data(repeating: byte, count: 32))
            #expect(pin.isValid)
            #expect(PublicKeyPin(pin.description) == pin)
            #expect(PublicKeyPin("sha256//\(pin.description.dropFirst("sha256/".count))") == pin)
        }
    }

    @Test(arguments: [
        "", "sha256/", "sha256/short", "sha1/AAAAAAAAAAAAAAAAAAAAAAAAAAA=",
        "sha256/\(String(repeating: "?", count: 44))",
    ])
    func malformedPinsAreInvalid(_ text: String) {
        #expect(!PublicKeyPin(text).isValid)
    }
}
