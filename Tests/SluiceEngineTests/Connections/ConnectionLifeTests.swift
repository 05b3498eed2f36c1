#if os(Linux)
import Foundation
import SluiceHTTP
import SluiceTesting
import Testing

@testable import SluiceEngine

@Suite struct ConnectionLifeTests {
    @Test(arguments: [
        (Duration.seconds(100), UInt64(0), Duration.seconds(100)),
        (.seconds(100), 20_000_000_000, .seconds(80)),
        (.seconds(100), 20_000_000_001, .seconds(100)),
        (.seconds(100), 10_000_000_000, .seconds(90)),
        (.nanoseconds(1), .max, .nanoseconds(1)),
        (.zero, .max, .zero),
        (.seconds(-1), 5, .seconds(-1)),
    ])
    func lifetimeIsReducedByARandomPart(_ maximum: Duration, _ random: UInt64, _ expected: Duration) {
        #expect(ConnectionLife.length(of: maximum, random: random) == expected)
    }

    @Test(arguments: 0..<50) func lifetimeIsBetweenFourFifthsAndAll(_ seed: UInt64) {
        var random = Seeded(seed)
        for maximum in [Duration.milliseconds(1), .seconds(90), .seconds(Int64.max)] {
            let length = ConnectionLife.length(of: maximum, random: random.next()).nanoseconds
            #expect(length <= maximum.nanoseconds)
            #expect(length >= maximum.nanoseconds / 5 * 4)
        }
    }

    @Test func lifeEndsWithItsLimitOrBefore() {
        let start = MonotonicTime(nanoseconds: 0)
        let unlimited = ConnectionLife(since: start, lifetime: nil, tls: nil)
        let isOverLate = unlimited.isOver(at: MonotonicTime(nanoseconds: .max - 1))
        #expect(!isOverLate)
        unlimited.retire()
        let isRetired = unlimited.isOver(at: start)
        #expect(isRetired)
        let limited = ConnectionLife(since: start, lifetime: .seconds(10), tls: nil)
        let isOverEarly = limited.isOver(at: MonotonicTime(nanoseconds: 7_999_999_999))
        #expect(!isOverEarly)
        let isOver = limited.isOver(at: MonotonicTime(nanoseconds: 10_000_000_000))
        #expect(isOver)
    }
}

extension EngineTests {
    /// A name whose addresses change while it is in use.
    @Suite struct AddressChangeTests {
        private static func answering(_ text: String, _ last: UInt8, port: Int = 0) throws -> TestListener {
            try TestListener(last, port: port) { descriptor in
                while TestListener.readHead(descriptor) != nil {
                    let head = "HTTP/1.1 200 OK\r\nContent-Length: \(text.utf8.count)\r\n\r\n"
                    guard TestListener.write(head + text, to: descriptor) else { return }
                }
            }
        }

        @Test func newConnectionsFollowTheName() async throws {
            let first = try Self.answering("first", 1)
            let second = try Self.answering("second", 2, port: first.port)
            let last = Locked<UInt8>(1)
            let lookUps = Locked(0)
            let clock = Locked(MonotonicTime(nanoseconds: 0))
            let resolver = Resolver(
                lookUp: { _ in
                    lookUps.withLock { $0 += 1 }
                    return .success([ScopedAddress(IPAddress(127, 0, 0, last.withLock(\.self)))])
                },
                now: { clock.withLock(\.self) }
            )
            let transport = SocketTransport(resolver: resolver)
            var context = TransferContext()
            context.connection.proxy = .none
            let request = HTTPRequest(scheme: "http", authority: "moving.test:\(first.port)", path: "/")
            #expect(try await transport.exchange(request, context).text == "first")
            last.withLock { $0 = 2 }
            // The connection stays in use, and then a new one uses the stored answer.
            #expect(try await transport.exchange(request, context).text == "first")
            transport.retireConnections()
            #expect(try await transport.exchange(request, context).text == "first")
            #expect(lookUps.withLock(\.self) == 1)
            // Answers are stored for a minute.
            clock.withLock { $0 = MonotonicTime(nanoseconds: 60_000_000_000) }
            transport.retireConnections()
            #expect(try await transport.exchange(request, context).text == "second")
            #expect(lookUps.withLock(\.self) == 2)
            #expect(second.connections == 1)
        }

        @Test func lifetimeEndsTheUseOfAnOldAddress() async throws {
            let first = try Self.answering("first", 1)
            let second = try Self.answering("second", 2, port: first.port)
            let last = Locked<UInt8>(1)
            let resolver = Resolver(lifetime: .zero) { _ in
                .success([ScopedAddress(IPAddress(127, 0, 0, last.withLock(\.self)))])
            }
            var configuration = SocketTransport.Configuration()
            configuration.connectionLifetime = .milliseconds(200)
            let transport = SocketTransport(configuration: configuration, resolver: resolver)
            var context = TransferContext()
            context.connection.proxy = .none
            let request = HTTPRequest(scheme: "http", authority: "moving.test:\(first.port)", path: "/")
            #expect(try await transport.exchange(request, context).text == "first")
            last.withLock { $0 = 2 }
            // The requests never pause, so the connection is never idle for long.
            try await waitUntil("the second address is used") {
                try await transport.exchange(request, context).text == "second"
            }
            #expect(first.connections >= 1)
            #expect(second.connections >= 1)
        }
    }
}
#endif
