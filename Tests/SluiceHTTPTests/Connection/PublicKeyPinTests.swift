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

    @Test func anArrayOfPinsEqualsTheSamePinsOneByOne() {
        let pins = (0..<3).map { PublicKeyPin(sha256: Data(repeating: $0, count: 32)) }
        #expect(PublicKeyPins(pins).pins == PublicKeyPins(pins[0], backups: pins[1], pins[2]).pins)
        #expect(PublicKeyPins(pins).mode.isEnforced)
        #expect(!PublicKeyPins(pins, mode: .report { _ in }).mode.isEnforced)
        #expect(PublicKeyPins([PublicKeyPin]()).pins.isEmpty)
    }

    /// One typing error fails closed, and does not leave the other pins in force alone.
    @Test func aMalformedPinAmongOthersFailsEveryConnection() {
        let valid = PublicKeyPin(sha256: Data(repeating: 1, count: 32))
        for position in 0..<3 {
            var pins = [valid, valid]
            pins.insert("sha256/short", at: position)
            var options = ConnectionOptions()
            options.proxy = .none
            options.tls.pins = PublicKeyPins(pins)
            let origin = HTTPOrigin(scheme: "https", authority: "shop.example")
            let error = #expect(throws: SluiceError.self) { _ = try options.plan(for: origin) }
            #expect(error?.code == .invalidConfiguration)
            #expect(error?.reason.contains("sha256/short") == true)
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
