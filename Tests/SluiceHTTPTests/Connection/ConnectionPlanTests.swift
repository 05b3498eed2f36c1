import SluiceHTTP
import Testing

@Suite struct ConnectionPlanTests {
    private let origin = HTTPOrigin(scheme: "https", authority: "img.cdn.example")

    private func plan(_ change: (inout ConnectionOptions) throws -> Void) throws -> ConnectionPlan {
        var options = ConnectionOptions()
        options.proxy = .none
        try change(&options)
        return try options.plan(for: origin)
    }

    private func code(_ change: (inout ConnectionOptions) throws -> Void) -> SluiceError.Code? {
        #expect(throws: SluiceError.self) { _ = try plan(change) }?.code
    }

    /// Requests of clients with default options need no computation.
    @Test func clientsWithDefaultOptionsShareOnePlan() throws {
        let local = HTTPOrigin(scheme: "http", authority: "127.0.0.1:8080")
        #expect(try ConnectionOptions().plan(for: local) === ConnectionPlan.standard)
        #expect(ConnectionPlan.standard.proxy == nil)
        #expect(ConnectionPlan.standard.httpVersion == .automatic)
    }

    @Test func planIsComputedOncePerOrigin() throws {
        var options = ConnectionOptions()
        options.httpVersion = .http1
        let copy = options
        let plan = try options.plan(for: origin)
        #expect(try copy.plan(for: origin) === plan)
        #expect(try options.plan(for: HTTPOrigin(scheme: "http", authority: "img.cdn.example")) !== plan)
        options.httpVersion = .http1
        #expect(try options.plan(for: origin) !== plan)
    }

    @Test func mostSpecificHostPatternApplies() throws {
        let versions: [HostPattern: TLSConfiguration] = [
            "*": TLSConfiguration(minimumVersion: .tls12), "*.example": TLSConfiguration(minimumVersion: .tls12),
            "*.cdn.example": TLSConfiguration(minimumVersion: .tls13),
            "cdn.example": TLSConfiguration(minimumVersion: .tls12),
        ]
        #expect(try plan { $0.tlsByHost = versions }.tls.minimumVersion == .tls13)
        let addresses: [HostPattern: [IPAddress]] = [
            "*": [IPAddress(192, 0, 2, 1)], "img.cdn.example": [IPAddress(192, 0, 2, 2)],
            "*.cdn.example": [IPAddress(192, 0, 2, 3)],
        ]
        #expect(try plan { $0.hostAddresses = addresses }.hostAddresses == [IPAddress(192, 0, 2, 2)])
        #expect(try plan { $0.hostAddresses["other.example"] = [IPAddress(192, 0, 2, 1)] }.hostAddresses.isEmpty)
        #expect(try plan { $0.tls.minimumVersion = .tls13 }.tls.minimumVersion == .tls13)
    }

    @Test func socketPrecedesProxyAndProxyPrecedesAddresses() throws {
        let all = try plan {
            $0.unixSocket = "/run/a.sock"
            $0.proxy = .http("proxy.example")
            $0.hostAddresses["*"] = [IPAddress(192, 0, 2, 1)]
        }
        #expect(all.unixSocket == "/run/a.sock")
        #expect(all.proxy == nil)
        #expect(all.hostAddresses.isEmpty)
        let two = try plan {
            $0.proxy = .http("proxy.example")
            $0.hostAddresses["*"] = [IPAddress(192, 0, 2, 1)]
        }
        #expect(two.proxy == .http("proxy.example"))
        #expect(two.hostAddresses.isEmpty)
    }

    @Test func proxyIsRefusedUnderAnAddressPolicy() {
        let code = code {
            $0.proxy = .http("proxy.example")
            $0.addresses = .publicOnly
        }
        #expect(code == .addressRefused)
    }

    @Test func addressPolicyAppliesToProxyExceptions() throws {
        let plan = try plan {
            $0.proxy = .always(.http("proxy.example"), except: ["*.cdn.example"])
            $0.addresses = .publicOnly
        }
        #expect(plan.addresses == .publicOnly)
        #expect(plan.proxy == nil)
    }

    @Test(arguments: ["", "sha256/", "sha256/AAAA", "sha1/jQJTbIh0grw0/1TkHSumWb+Fs0Ggogr621gT3PvPKG0="])
    func rejectsMalformedPins(pin: String) {
        #expect(code { $0.tls.pins = PublicKeyPins(PublicKeyPin(stringLiteral: pin)) } == .invalidConfiguration)
    }

    @Test(arguments: ["", "/tmp/\0", "/\(String(repeating: "x", count: 120))"])
    func rejectsUnusableSocketPaths(path: String) {
        #expect(code { $0.unixSocket = path } == .invalidConfiguration)
    }

    @Test(arguments: ["", "a:b:c", "proxy.example:0", "ada:pw@proxy.example", "http://proxy.example"])
    func malformedProxyFailsWithoutShowingThePassword(address: String) {
        let error = #expect(throws: SluiceError.self) { _ = try plan { $0.proxy = .http(address) } }
        #expect(error?.code == .invalidConfiguration)
        #expect(error?.description.contains("pw") == false)
    }
}
