import SluiceHTTP
import Testing

@testable import SluiceCurl

@Suite struct CleartextConnectionsTests {
    private let one = HTTPRequest(scheme: "http", authority: "one:80", path: "/").origin
    private let other = HTTPRequest(scheme: "http", authority: "other:80", path: "/").origin

    @Test func aConnectionIsSharedFromItsBeginningToItsEnd() {
        var connections = CleartextConnections()
        #expect(!connections.mayBeShared(to: one))
        connections.begins(to: one)
        #expect(connections.mayBeShared(to: one))
        #expect(!connections.mayBeShared(to: other))
        #expect(!connections.contains(5, to: one))
        connections.ends(to: one, port: 5)
        #expect(connections.mayBeShared(to: one))
        #expect(connections.contains(5, to: one))
        #expect(!connections.contains(5, to: other))
        #expect(!connections.contains(6, to: one))
        connections.closed(5)
        #expect(!connections.mayBeShared(to: one))
        #expect(!connections.contains(5, to: one))
    }

    @Test func whatComesToNothingIsNotWaitedFor() {
        var connections = CleartextConnections()
        connections.begins(to: one)
        connections.begins(to: one)
        connections.ends(to: one, port: nil)
        #expect(connections.mayBeShared(to: one))
        connections.ends(to: one, port: nil)
        #expect(!connections.mayBeShared(to: one))
    }

    @Test func whatHasNoPortIsNotShared() {
        var connections = CleartextConnections()
        connections.begins(to: one)
        connections.ends(to: one, port: 0)
        #expect(!connections.mayBeShared(to: one))
        #expect(!connections.contains(0, to: one))
    }
}
