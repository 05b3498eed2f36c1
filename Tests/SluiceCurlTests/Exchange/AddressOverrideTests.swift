#if os(Linux)
import CCurl
import SluiceHTTP
import Testing

@testable import SluiceCurl

@Suite struct AddressOverrideTests {
    private let one = IPAddress(192, 0, 2, 1)

    private func text(_ list: UnsafeMutablePointer<curl_slist>?) -> String? {
        list.map { String(cString: $0.pointee.data) }
    }

    @Test func oneAddressIsConnectedToInPlaceOfTheHost() throws {
        let override = AddressOverride([one], port: 80)
        #expect(text(override.connectTo) == "::192.0.2.1:")
        #expect(override.resolve == nil)
        let version6 = AddressOverride([try #require(IPAddress("2001:db8::1"))], port: 80)
        #expect(text(version6.connectTo) == "::[2001:db8::1]:")
    }

    @Test func severalAreToldAsThoseOfANameOfTheirOwn() throws {
        let addresses = [try #require(IPAddress("2001:db8::1")), one]
        let override = AddressOverride(addresses, port: 8443)
        let name = AddressOverride.name(of: addresses)
        #expect(name.hasSuffix(".invalid"))
        #expect(text(override.connectTo) == "::\(name):")
        #expect(text(override.resolve) == "\(name):8443:[2001:db8::1],192.0.2.1")
    }

    @Test func theNameIsTheSameForTheSameAddressesAlone() {
        let two = IPAddress(192, 0, 2, 2)
        #expect(AddressOverride.name(of: [one, two]) == AddressOverride.name(of: [one, two]))
        #expect(AddressOverride.name(of: [one, two]) != AddressOverride.name(of: [two, one]))
    }

    @Test(
        arguments: [
            (.zero, 0), (.milliseconds(1), 1), (.seconds(1), 1), (.milliseconds(1500), 2), (.seconds(-3), 0),
            (.milliseconds(-500), 0), (.seconds(Int64.max), Int(Int32.max) - 1),
        ] as [(Duration, Int)]
    )
    func secondsAreRoundedUp(duration: Duration, seconds: Int) {
        #expect(duration.wholeSeconds == seconds)
    }
}
#endif
