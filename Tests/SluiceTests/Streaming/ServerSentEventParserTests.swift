import Foundation
import Sluice
import SluiceTesting
import Testing

@Suite struct ServerSentEventParserTests {
    typealias Event = ServerSentEvent

    static let streams: [(String, [Event])] = [
        // The examples of WHATWG HTML §9.2.6.
        ("data: YHOO\ndata: +2\ndata: 10\n\n", [Event(data: "YHOO\n+2\n10")]),
        (
            ": test stream\n\ndata: first event\nid: 1\n\ndata:second event\nid\n\ndata:  third event",
            [Event(data: "first event", lastEventID: "1"), Event(data: "second event")]
        ),
        ("data\n\ndata\ndata\n\ndata:", [Event(data: ""), Event(data: "\n")]),
        ("data:test\n\ndata: test\n\n", [Event(data: "test"), Event(data: "test")]),
        // Line endings.
        ("data: a\r\ndata: b\r\n\r\n", [Event(data: "a\nb")]),
        ("data: a\rdata: b\r\r", [Event(data: "a\nb")]),
        ("data: a\r\rdata: b\n\ndata: c\r\n\r\n", [Event(data: "a"), Event(data: "b"), Event(data: "c")]),
        ("data: a\r\n\rdata: b\n\r", [Event(data: "a"), Event(data: "b")]),
        ("\r\n\n\r\rdata: a\n\n\n", [Event(data: "a")]),
        // Byte order marks.
        ("\u{FEFF}data: a\n\n", [Event(data: "a")]),
        ("\u{FEFF}\u{FEFF}data: a\n\n", []),
        ("data: a\n\n\u{FEFF}data: b\n\n", [Event(data: "a")]),
        ("\u{FEFF}\ndata: \u{FEFF}\n\n", [Event(data: "\u{FEFF}")]),
        // Fields.
        ("event: price\ndata: 1\n\ndata: 2\n\n", [Event(type: "price", data: "1"), Event(data: "2")]),
        ("event: a\nevent: b\ndata: 1\n\n", [Event(type: "b", data: "1")]),
        ("event: a\n\ndata: 1\n\n", [Event(data: "1")]),
        ("event:\ndata: 1\n\nevent\ndata: 2\n\n", [Event(data: "1"), Event(data: "2")]),
        ("data: a:b: c\n\n", [Event(data: "a:b: c")]),
        ("Data: a\n data: b\ndata : c\ndatum: d\ndat: e\n\n", []),
        (":\n: data: x\n:data: y\n\n", []),
        ("\n\nid: 3\n\n", []),
        ("data: a\0b\n\n", [Event(data: "a\0b")]),
        // IDs.
        (
            "id: 1\ndata: a\n\ndata: b\n\nid: 2\n\ndata: c\n\n",
            [
                Event(data: "a", lastEventID: "1"), Event(data: "b", lastEventID: "1"),
                Event(data: "c", lastEventID: "2"),
            ]
        ),
        ("id: 1\nid: a\0b\ndata: x\n\n", [Event(data: "x", lastEventID: "1")]),
        ("id: 1\ndata: x\n\nid:\ndata: y\n\n", [Event(data: "x", lastEventID: "1"), Event(data: "y")]),
        ("id: ü 1 \ndata: x\n\n", [Event(data: "x", lastEventID: "ü 1 ")]),
        // IDs that cannot be sent in a header are ignored.
        ("id: 1\nid: a\u{1}b\ndata: x\n\n", [Event(data: "x", lastEventID: "1")]),
        ("id: 1\nid: \u{1B}[2J\ndata: x\n\n", [Event(data: "x", lastEventID: "1")]),
        ("id: 1\nid: \u{7F}\ndata: x\n\n", [Event(data: "x", lastEventID: "1")]),
        ("id: a\tb\ndata: x\n\n", [Event(data: "x", lastEventID: "a\tb")]),
        // Retry times.
        ("retry: 1500\ndata: x\n\n", [Event(data: "x", retry: .milliseconds(1500))]),
        ("retry: 15s\nretry: -1\nretry: 1.5\nretry:\nretry: +1\nretry: ٣\nretry:  1\ndata: x\n\n", [Event(data: "x")]),
        ("retry: 0007\ndata: x\n\n", [Event(data: "x", retry: .milliseconds(7))]),
        ("retry: 99999999999999999999999\ndata: x\n\n", [Event(data: "x", retry: .milliseconds(Int64.max))]),
        // Ends of streams.
        ("data: a\n\ndata: b\n", [Event(data: "a")]),
        ("data: a\n\ndata: b", [Event(data: "a")]),
        ("", []),
    ]

    @Test(arguments: streams) func parsesEventsAcrossAnyChunks(_ text: String, _ events: [Event]) {
        for split in Splits.all(of: Array(text.utf8)) {
            let (elements, error) = Splits.elements(split, ServerSentEventParser())
            #expect(elements == events, "\(split)")
            #expect(error == nil)
        }
    }

    /// Any ID that takes effect can be sent as `Last-Event-ID`. All others leave the ID before them.
    @Test func idsAreValidFieldValuesOfBoundedLength() throws {
        var random = SeededGenerator(seed: 11)
        let bytes: [UInt8] = Array(0...255).filter { $0 != 10 && $0 != 13 }
        for count in [0, 1, 2, 3, 8, 40, 4095, 4096, 4097, 100_000] {
            for _ in 0..<50 {
                // Half of the IDs have no control characters.
                let letters = Bool.random(using: &random) ? bytes : Array(0x21...0x7E)
                let id = (0..<count).map { _ in letters.randomElement(using: &random) ?? 0x41 }
                var parser = ServerSentEventParser()
                parser.append(Data("id: before\n\nid:x".utf8) + id + Data("\n\ndata:\n\n".utf8))
                let event = try #require(try parser.next())
                let isValid = count < 4096 && id.allSatisfy { $0 == 9 || $0 >= 32 && $0 != 127 }
                let expected = isValid ? "x" + String(decoding: id, as: UTF8.self) : "before"
                #expect(event.lastEventID == expected, "\(id.prefix(50))")
                #expect(event.lastEventID.utf8.allSatisfy { $0 == 9 || $0 >= 32 && $0 != 127 })
            }
        }
    }

    @Test func replacesInvalidUTF8() {
        let bytes = Array("data: ".utf8) + [0xE2, 0x82, 0x0A] + Array("event: ".utf8) + [0xFF, 0x0A, 0x0A]
        for split in Splits.all(of: bytes) {
            let (events, _) = Splits.elements(split, ServerSentEventParser())
            #expect(events == [Event(type: "\u{FFFD}", data: "\u{FFFD}")])
        }
    }

    @Test func appliesIDAtEndOfEventAndRetryTimeAtOnce() throws {
        var parser = ServerSentEventParser(lastEventID: "6")
        parser.append(Data("retry: 10\nid: 7\ndata: x\n".utf8))
        #expect(try parser.next() == nil)
        #expect(parser.lastEventID == "6")
        #expect(parser.reconnectionTime == .milliseconds(10))
        parser.append(Data("\ndata: y\n\n: z\n".utf8))
        #expect(try parser.next() == Event(data: "x", lastEventID: "7", retry: .milliseconds(10)))
        #expect(parser.lastEventID == "7")
        #expect(try parser.next() == Event(data: "y", lastEventID: "7"))
        parser.append(Data("id: 8\n\nid: 9\n".utf8))
        #expect(try parser.next() == nil)
        parser.finish()
        #expect(try parser.next() == nil)
        #expect(parser.lastEventID == "8")
    }

    static let limits: [(String, [String], Bool)] = [
        ("data: 1234567\n\n", ["1234567"], false),
        ("data: 12345678901\n\n", [], true),
        ("data: a\n\ndata:12345\ndata:12345678\n\n", ["a"], true),
        ("data:1234\ndata:5\n\n", ["1234\n5"], false),
        (":1234567890\ndata: a\n\n", ["a"], false),
        (":12345678901234", [], true),
        (":12345\n:12345\n:12345\n:12345\ndata: a\n\n", ["a"], false),
    ]

    @Test(arguments: limits) func enforcesLimitAcrossAnyChunks(
        _ text: String,
        _ data: [String],
        _ isOver: Bool
    ) {
        for split in Splits.all(of: Array(text.utf8)) {
            let (events, error) = Splits.elements(split, ServerSentEventParser(limit: 13))
            #expect(events.map(\.data) == data, "\(split)")
            #expect((error == .elementTooLarge) == isOver, "\(split)")
        }
        var parser = ServerSentEventParser(limit: 6)
        parser.append(Data("data:1\ndata:1\ndata:1\ndata:1\n\n".utf8))
        let error = #expect(throws: SluiceError.self) { try parser.next() }
        #expect(error?.description == "An event of the response exceeds the limit of 6 bytes.")
        #expect(throws: SluiceError.self) { try parser.next() }
    }

    @Test func parsesRandomStreamsAcrossAnyChunks() {
        var random = SeededGenerator(seed: 9)
        let words = [
            "data", "id", "event", "retry", ":", " ", "1", "x", "\n", "\n", "\r", "\r\n", "\u{FEFF}", "ü", "\0",
        ]
        for _ in 0..<300 {
            let count = Int.random(in: 0...20, using: &random)
            let text = (0..<count).map { _ in words.randomElement(using: &random) ?? "" }.joined()
            let whole = Splits.elements([Data(text.utf8)], ServerSentEventParser(limit: 12))
            for split in Splits.all(of: Array(text.utf8)) {
                let (events, error) = Splits.elements(split, ServerSentEventParser(limit: 12))
                #expect(events == whole.0 && error == whole.1, "\(text.debugDescription)")
            }
        }
    }

    @Test func decodesDataOfEvent() throws {
        let event = Event(type: "price", data: #"{"id":7,"name":"Ada"}"#)
        #expect(try event.decoded(as: User.self) == User(id: 7, name: "Ada"))
        let error = #expect(throws: SluiceError.self) { try Event(data: #"{"id":"7"}"#).decoded(as: User.self) }
        #expect(
            error?.reason == "The event's data could not be decoded as User: at “id”, expected Int, found a string."
        )
    }

    /// Lone carriage returns must not cause repeated searches for a line feed.
    @Test(.timeLimit(.minutes(10))) func parsesOneMebibyteInLinearTime() {
        for byte: UInt8 in [10, 13, 58, 97] {
            let chunk = Data(repeating: byte, count: 1 << 20)
            #expect(Splits.elements([chunk], ServerSentEventParser()).0.isEmpty)
        }
    }
}
