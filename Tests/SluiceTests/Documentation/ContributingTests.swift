import Foundation
import SluiceHTTP
import SluiceTesting
import Testing

@testable import Sluice

// The examples of CONTRIBUTING.md.

/// Refuses requests while it is closed.
final class Maintenance: ImmediateGate {
    private let isClosed = Locked(false)

    /// False: the gate reserves no limited resource, so it precedes those that do.
    var reservesResource: Bool { false }

    func setClosed(_ isClosed: Bool) {
        self.isClosed.withLock { $0 = isClosed }
    }

    func admitImmediately(_ request: RequestContext) -> Permit? {
        isClosed.withLock { $0 } ? nil : Permit()
    }

    func admit(_ request: RequestContext) async throws(SluiceError) -> Permit {
        if let permit = admitImmediately(request) { return permit }
        throw SluiceError(.gateFailed, "The service is in maintenance. Try again later.")
    }
}

extension RequestBody {
    /// A body of lines, each one a JSON value.
    static func jsonLines(_ values: [some Encodable & Sendable], encoder: JSONEncoder? = nil) -> RequestBody {
        RequestBody(contentType: "application/jsonl") { configuration in
            let encoder = encoder ?? configuration.encoder
            let lines = try values.map { try encoder.encode($0) }
            return .data(Data(lines.joined(separator: "\n".utf8)))
        }
    }
}

extension BodyRequest {
    /// Sets a body of lines, each one a JSON value.
    consuming func jsonLines(_ values: [some Encodable & Sendable]) -> APIRequest<Model, ErrorModel> {
        body(.jsonLines(values))
    }
}

extension HTTPHeaderName {
    /// `Deprecation`
    static let deprecation: Self = "Deprecation"
}

/// The `Deprecation` field: the date from which a resource is deprecated (RFC 9745 §2.1).
enum Deprecation {
    /// Returns the date; nil without a valid field.
    static func date(in headers: HTTPHeaders) -> Date? {
        guard let text = headers[.deprecation], text.hasPrefix("@"), !text.contains("+") else { return nil }
        return Int64(text.dropFirst()).map { Date(timeIntervalSince1970: Double($0)) }
    }
}

@Suite struct ContributingTests {
    @Test func closedGateRefusesRequests() async throws {
        let server = try LoopbackServer()
        server.on("/zen", .text("calm"))
        let maintenance = Maintenance()
        let client = APIClient(baseURL: server.url) { $0.gates = [maintenance] }
        #expect(try await client.string.get("zen").sender().value == "calm")
        maintenance.setClosed(true)
        #expect(await client.string.get("zen").sender().response.failure?.code == .gateFailed)
    }

    @Test func jsonLinesAreSentAsBody() async throws {
        let server = try LoopbackServer()
        server.on("/echo") { .data($0.body) }
        let client = APIClient(baseURL: server.url)
        #expect(try await client.string.post("echo").jsonLines([1, 2]).sender().value == "1\n2")
        #expect(server.requests.first?.headers["Content-Type"] == "application/jsonl")
    }

    @Test(arguments: [("@1688169599", 1_688_169_599), ("@-1", -1), ("@+1", nil), ("1", nil), ("@", nil), ("@x", nil)])
    func deprecationDateIsParsed(_ text: String, _ seconds: Int?) {
        let expected = seconds.map { Date(timeIntervalSince1970: Double($0)) }
        #expect(Deprecation.date(in: ["Deprecation": text]) == expected)
    }
}
