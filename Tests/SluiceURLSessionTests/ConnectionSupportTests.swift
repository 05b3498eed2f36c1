import Foundation
import Sluice
import SluiceHTTP
import Testing

@testable import SluiceURLSession

@Suite struct ConnectionSupportTests {
    private struct Row: Sendable {
        let words: String
        let change: @Sendable (inout ConnectionOptions) -> Void

        init(_ words: String, _ change: @escaping @Sendable (inout ConnectionOptions) -> Void) {
            self.words = words
            self.change = change
        }
    }

    private static let pin: PublicKeyPin = "sha256/jQJTbIh0grw0/1TkHSumWb+Fs0Ggogr621gT3PvPKG0="

    private static let unsupported = [
        Row("keys") { $0.tls.pins = PublicKeyPins(pin) }, Row("TLS trust") { $0.tls.trust = .only(.pem("x")) },
        Row("TLS trust") { $0.tls.trust = .systemAnd(.pem("x")) },
        Row("TLS trust") { $0.tls.trust = .insecurelyAnyCertificate },
        Row("TLS trust") { $0.tlsByHost["*.example"] = TLSConfiguration(trust: .only(.pem("x"))) },
        Row("certificate") { $0.tls.clientCertificate = .pem(certificate: .pem("x"), key: .pem("y")) },
        Row("TLS version") { $0.tls.minimumVersion = .tls13 }, Row("unix-domain") { $0.unixSocket = "/run/a.sock" },
        Row("proxies") { $0.proxy = .none }, Row("proxies") { $0.proxy = .http("proxy.example") },
        Row("addresses for hosts") { $0.hostAddresses["*"] = [IPAddress(192, 0, 2, 1)] },
        Row("HTTP version") { $0.httpVersion = .http1 },
        Row("HTTP version") { $0.httpVersion = .http2PriorKnowledge },
        Row("address policy") { $0.addresses = .publicOnly },
    ]

    @Test(arguments: unsupported.indices)
    func rejectsUnsupportedOptions(index: Int) {
        let row = Self.unsupported[index]
        var options = ConnectionOptions()
        row.change(&options)
        let origin = HTTPOrigin(scheme: "https", authority: "api.example")
        let error = #expect(throws: SluiceError.self) { try options.checkSupport(for: origin) }
        #expect(error?.code == .unsupported)
        #expect(error?.reason.contains(row.words) == true)
    }

    /// Without SocketTransport, nobody is sent to it: the advice names what the platform has.
    @Test(arguments: UnsupportedOption.allCases)
    func adviceCanBeFollowedOnThePlatform(_ option: UnsupportedOption) {
        #expect(option.advice(hasSocketTransport: true) == "Use SocketTransport.")
        let advice = option.advice(hasSocketTransport: false)
        #expect(!advice.hasPrefix("Use SocketTransport"))
        #expect(advice.hasSuffix("."))
        let names = ["NSPinnedDomains", "delegate", "URLSessionConfiguration", ".automatic", "Leave it out"]
        #expect(names.contains { advice.contains($0) })
    }

    @Test func acceptsDefaultsAndOptionsOfOtherHosts() throws {
        let origin = HTTPOrigin(scheme: "https", authority: "api.example")
        try ConnectionOptions().checkSupport(for: origin)
        var options = ConnectionOptions()
        options.tlsByHost["*.internal"] = TLSConfiguration(minimumVersion: .tls13)
        options.hostAddresses["a.internal"] = [IPAddress(10, 0, 0, 1)]
        options.hosts.denied = ["b.internal"]
        try options.checkSupport(for: origin)
    }

    @Test func unsupportedOptionFailsRequestBeforeSending() async {
        var context = TransferContext()
        context.connection.unixSocket = "/run/a.sock"
        let request = HTTPRequest(scheme: "http", authority: "127.0.0.1:1", path: "/")
        let error = await #expect(throws: SluiceError.self) {
            _ = try await URLSessionTransport().send(request, context: context)
        }
        #expect(error?.code == .unsupported)
        #expect(error?.request?.path == "/")
    }

    @Test func customTrustSaysWhatToDo() async {
        let shop = APIClient(baseURL: "https://shop.example") {
            $0.transport = URLSessionTransport()
            $0.connection.tls.trust = .only(.file("own-ca.pem"))
        }
        do {
            _ = try await shop.string.get("motto").sender().value
            Issue.record("The trust was ignored.")
        } catch {
            #expect(error.code == .unsupported)
            let advice = UnsupportedOption.trust.advice()
            let sentence = "URLSession cannot be configured with custom TLS trust. \(advice)"
            #expect(error.localizedDescription.hasSuffix(sentence), "\(error.localizedDescription)")
        }
    }
}
