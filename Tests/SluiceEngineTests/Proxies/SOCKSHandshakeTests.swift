#if os(Linux)
import SluiceHTTP
import Testing

@testable import SluiceEngine

/// The client side of SOCKS, message by message.
@Suite struct SOCKSHandshakeTests {
    private typealias Destination = SOCKSHandshake.Destination

    private static let ada = SOCKSHandshake.Credentials(user: "ada", password: "pw")
    private static let version6 = IPAddress("2001:db8::1") ?? IPAddress(0, 0, 0, 0)
    private static let granted: [UInt8] = [5, 0, 0, 1, 10, 0, 0, 1, 0, 80]

    private static func handshake(
        _ version: SOCKSHandshake.Version = .five,
        to destinations: [SOCKSHandshake.Destination] = [.name("a.test")],
        port: UInt16 = 443,
        _ credentials: SOCKSHandshake.Credentials? = nil
    ) throws -> SOCKSHandshake {
        try SOCKSHandshake(version, to: destinations, port: port, credentials: credentials)
    }

    // MARK: Messages

    @Test(
        arguments: [
            (.name("a.test"), [5, 1, 0, 3, 6] + Array("a.test".utf8) + [1, 187]),
            (.address(IPAddress(192, 0, 2, 7)), [5, 1, 0, 1, 192, 0, 2, 7, 1, 187]),
            (.address(version6), [5, 1, 0, 4, 0x20, 1, 0xD, 0xB8] + Array(repeating: 0, count: 11) + [1, 1, 187]),
        ] as [(SOCKSHandshake.Destination, [UInt8])]
    )
    func version5RequestHasTheHost(_ destination: SOCKSHandshake.Destination, _ request: [UInt8]) throws {
        var handshake = try Self.handshake(to: [destination])
        let reading = HandshakeReading(&handshake, [[5, 0], Self.granted])
        #expect(reading.sent == [[5, 1, 0], request])
        #expect(reading.last == .done)
    }

    @Test func credentialsAreSentOnRequestOnly() throws {
        var handshake = try Self.handshake(.five, Self.ada)
        let reading = HandshakeReading(&handshake, [[5, 2], [1, 0], Self.granted])
        #expect(
            reading.sent == [
                [5, 2, 0, 2], [1, 3] + Array("ada".utf8) + [2] + Array("pw".utf8),
                [5, 1, 0, 3, 6] + Array("a.test".utf8) + [1, 187],
            ]
        )
        #expect(reading.last == .done)
        var withoutRequest = try Self.handshake(.five, Self.ada)
        #expect(HandshakeReading(&withoutRequest, [[5, 0], Self.granted]).sent.count == 2)
    }

    @Test(
        arguments: [
            (.name("a.test"), nil, [4, 1, 1, 187, 0, 0, 0, 1, 0] + Array("a.test".utf8) + [0]),
            (.name("a.test"), ada, [4, 1, 1, 187, 0, 0, 0, 1] + Array("ada\0a.test\0".utf8)),
            (.address(IPAddress(192, 0, 2, 7)), nil, [4, 1, 1, 187, 192, 0, 2, 7, 0]),
            (.address(IPAddress(192, 0, 2, 7)), ada, [4, 1, 1, 187, 192, 0, 2, 7] + Array("ada\0".utf8)),
        ] as [(SOCKSHandshake.Destination, SOCKSHandshake.Credentials?, [UInt8])]
    )
    func version4RequestHasTheNameAfterTheUser(
        _ destination: SOCKSHandshake.Destination,
        _ credentials: SOCKSHandshake.Credentials?,
        _ request: [UInt8]
    ) throws {
        var handshake = try Self.handshake(.four, to: [destination], credentials)
        let reading = HandshakeReading(&handshake, [[0, 90, 1, 2, 3, 4, 5, 6]])
        #expect(reading.sent == [request])
        #expect(reading.last == .done)
    }

    @Test(
        arguments: [
            ("a.test", .name("a.test")), ("192.0.2.7", .address(IPAddress(192, 0, 2, 7))),
            ("2001:db8::1", .address(version6)), ("2001:db8::1%25eth0", .address(version6)), ("127.1", .name("127.1")),
        ] as [(String, SOCKSHandshake.Destination)]
    )
    func hostsAreSplitIntoNamesAndAddresses(_ host: String, _ destination: SOCKSHandshake.Destination) {
        #expect(Destination(host: host) == destination)
    }

    // MARK: Replies

    /// The answers to a handshake with credentials, and the outcome.
    private static let endings: [([[UInt8]], ProxyHandshakeAction)] = [
        ([[5, 0], [5, 0, 0, 3, 0, 0, 80]], .done),
        ([[5, 0], [5, 0, 0, 3, 255] + Array(repeating: 65, count: 255) + [0, 80]], .done),
        ([[5, 0], [5, 0, 0, 4] + Array(repeating: 1, count: 18)], .done),
        ([[5, 2], [1, 0], granted], .done),
        ([[5, 0xFF]], .failed(.socks(.noAcceptableMethod))),
        ([[5, 1]], .failed(.socks(.invalidAnswer))),
        ([[5, 3]], .failed(.socks(.invalidAnswer))),
        ([[4, 0]], .failed(.socks(.invalidAnswer))),
        ([Array("HTTP/1.1 400 Bad Request".utf8)], .failed(.socks(.invalidAnswer))),
        ([[5, 2], [1, 1]], .failed(.socks(.credentialsRejected))),
        ([[5, 2], [1, 0xFF]], .failed(.socks(.credentialsRejected))),
        ([[5, 2], [5, 0]], .failed(.socks(.invalidAnswer))),
        ([[5, 0], [4, 0]], .failed(.socks(.invalidAnswer))),
        ([[5, 0], [5, 0, 1, 1, 0]], .failed(.socks(.invalidAnswer))),
        ([[5, 0], [5, 0, 0, 2, 0]], .failed(.socks(.invalidAnswer))),
        ([[5, 0], [5, 0, 0, 0, 0]], .failed(.socks(.invalidAnswer))),
        // A refusal may be shorter than the standard form.
        ([[5, 0], [5, 2]], .failed(.socks(.reply(2)))),
        ([[5, 0], [5, 5, 0, 1, 0, 0, 0, 0, 0, 0]], .failed(.socks(.reply(5)))),
        ([[5, 0], [5, 200, 0, 1, 0, 0, 0, 0, 0, 0]], .failed(.socks(.reply(200)))),
    ]

    @Test(arguments: endings.indices)
    func repliesAreParsedInPiecesOfAnySize(_ index: Int) throws {
        let (answers, ending) = Self.endings[index]
        var sent: [[UInt8]]?
        for pieces in [nil, 1, 2, 3, 7] {
            var handshake = try Self.handshake(.five, Self.ada)
            let reading = HandshakeReading(&handshake, answers, pieces: pieces)
            #expect(reading.last == ending, "\(pieces ?? 0)")
            #expect(reading.sent == sent ?? reading.sent)
            sent = reading.sent
        }
    }

    @Test(
        arguments: [
            ([0, 90, 0, 0, 0, 0, 0, 0], .done), ([0, 91], .failed(.socks(.rejection(91)))),
            ([0, 92, 0, 0, 0, 0, 0, 0], .failed(.socks(.rejection(92)))), ([0, 93], .failed(.socks(.rejection(93)))),
            ([0, 0], .failed(.socks(.invalidAnswer))), ([0, 94], .failed(.socks(.invalidAnswer))),
            ([4, 90], .failed(.socks(.invalidAnswer))), ([5, 0], .failed(.socks(.invalidAnswer))),
        ] as [([UInt8], ProxyHandshakeAction)]
    )
    func version4RepliesAreParsed(_ answer: [UInt8], _ ending: ProxyHandshakeAction) throws {
        for pieces in [nil, 1, 3] {
            var handshake = try Self.handshake(.four)
            #expect(HandshakeReading(&handshake, [answer], pieces: pieces).last == ending)
        }
    }

    /// Bytes that the origin sends at once, as in HTTP/2, are left unread.
    @Test func bytesAfterTheReplyAreLeftUnread() throws {
        let settings: [UInt8] = [0, 0, 0, 4, 0, 0, 0, 0, 0]
        for reply in [Self.granted, [5, 0, 0, 3, 2, 65, 65, 0, 80], [5, 0, 0, 4] + Array(repeating: 1, count: 18)] {
            for pieces in [nil, 1, 4] {
                var handshake = try Self.handshake()
                let reading = HandshakeReading(&handshake, [[5, 0], reply + settings], pieces: pieces)
                #expect(reading.last == .done)
                #expect(reading.rest == settings.count)
            }
        }
        var version4 = try Self.handshake(.four)
        #expect(HandshakeReading(&version4, [[0, 90, 0, 0, 0, 0, 0, 0] + settings]).rest == settings.count)
    }

    @Test func surplusBytesAreAFlaw() throws {
        var handshake = try Self.handshake()
        _ = handshake.begin()
        let answer: [UInt8] = [5, 0, 5]
        #expect(answer.withUnsafeBytes { handshake.receive($0) } == .failed(.socks(.unexpectedData)))
    }

    @Test func closedConnectionFailsAtAnyByte() throws {
        let whole: [[UInt8]] = [[5, 2], [1, 0], Self.granted]
        for answer in whole.indices {
            for count in 0..<whole[answer].count {
                var handshake = try Self.handshake(.five, Self.ada)
                let answers = whole[..<answer] + [Array(whole[answer].prefix(count))]
                let reading = HandshakeReading(&handshake, Array(answers), thenClose: true)
                #expect(reading.last == .failed(.socks(.closed)), "\(answer) \(count)")
            }
        }
    }

    // MARK: Several addresses

    @Test func nextAddressIsTriedIfOneIsUnreachable() throws {
        let addresses = [IPAddress(192, 0, 2, 1), IPAddress(192, 0, 2, 2), IPAddress(192, 0, 2, 3)]
        var handshake = try Self.handshake(to: addresses.map { .address($0) })
        for (address, code) in zip(addresses, [4, 5, 3] as [UInt8]) {
            let reading = HandshakeReading(&handshake, [[5, 0], [5, code]])
            #expect(reading.sent.last == [5, 1, 0, 1] + address.bytes + [1, 187])
            #expect(reading.last == (code == 3 ? .failed(.socks(.reply(3))) : .reconnect))
        }
        // A refusal by rule does not concern the address.
        var forbidden = try Self.handshake(to: addresses.map { .address($0) })
        #expect(HandshakeReading(&forbidden, [[5, 0], [5, 2]]).last == .failed(.socks(.reply(2))))
        var version4 = try Self.handshake(.four, to: [.address(Self.version6)] + addresses.map { .address($0) })
        for ending in [.reconnect, .reconnect, .failed(.socks(.rejection(91)))] as [ProxyHandshakeAction] {
            #expect(HandshakeReading(&version4, [[0, 91]]).last == ending)
        }
    }

    // MARK: Limits

    @Test func rejectsValuesThatTheProtocolCannotEncode() {
        let long = String(repeating: "a", count: 256)
        for (version, destination, credentials, flaw) in [
            (.five, .name(long), nil, .invalidName), (.four, .name(long), nil, .invalidName),
            (.five, .name(""), nil, .invalidName), (.four, .name("a\0b"), nil, .invalidName),
            (.five, .name("a"), .init(user: long, password: ""), .invalidCredentials),
            (.five, .name("a"), .init(user: "", password: long), .invalidCredentials),
            (.four, .name("a"), .init(user: "a\0b", password: ""), .invalidCredentials),
            (.four, .address(Self.version6), nil, .unreachableAddress),
            // In SOCKS 4a, this address marks a request by name.
            (.four, .address(IPAddress(0, 0, 0, 7)), nil, .unreachableAddress),
        ] as [(SOCKSHandshake.Version, Destination, SOCKSHandshake.Credentials?, ProxyError.SOCKS)] {
            #expect(throws: ProxyError.socks(flaw)) {
                try SOCKSHandshake(version, to: [destination], port: 80, credentials: credentials)
            }
        }
        let longest = String(repeating: "ä", count: 127) + "a"
        #expect(throws: Never.self) {
            let credentials = SOCKSHandshake.Credentials(user: longest, password: longest)
            var handshake = try SOCKSHandshake(.five, to: [.name(longest)], port: 80, credentials: credentials)
            let reading = HandshakeReading(&handshake, [[5, 2], [1, 0], Self.granted])
            #expect(reading.sent.map(\.count) == [4, 513, 262])
            #expect(reading.last == .done)
        }
    }

    @Test func everyFlawHasAnErrorText() {
        let flaws: [ProxyError.SOCKS] =
            [
                .noAcceptableMethod, .credentialsRejected, .closed, .invalidAnswer, .unexpectedData, .invalidName,
                .invalidCredentials,
            ]
            + [.unreachableAddress] + (0...255).flatMap { [.reply($0), .rejection($0)] }
        for flaw in flaws {
            let error = ProxyError.socks(flaw).error(to: "a.test:81", by: "the proxy at p.test:1080")
            #expect(error.code == .proxyFailed)
            #expect(
                error.reason.hasPrefix(
                    "The connection to a.test:81 through the proxy at p.test:1080 could not be established: "
                )
            )
            #expect(error.reason.hasSuffix(".") && !error.reason.contains("  "))
        }
        let words = { (flaw: ProxyError.SOCKS) in ProxyError.socks(flaw).error(to: "a", by: "b").reason }
        #expect(
            words(.reply(3))
                == "The connection to a through b could not be established: the proxy cannot reach the network."
        )
        #expect(
            words(.reply(5))
                == "The connection to a through b could not be established: the server refused the connection."
        )
    }
}
#endif
