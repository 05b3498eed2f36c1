import Foundation
import SluiceRedis
import SluiceTesting
import Testing

struct RESPParserTests {
    struct Row: Sendable, CustomTestStringConvertible {
        let input: String
        let messages: [RESPParser.Message]

        init(_ input: String, _ messages: RESPParser.Message...) {
            self.input = input
            self.messages = messages
        }

        init(_ input: String, _ value: RedisValue) {
            self.init(input, .reply(value))
        }

        var testDescription: String { input.debugDescription }
    }

    static let rows: [Row] = [
        Row("+OK\r\n", .text("OK")),
        Row("+\r\n", .text("")),
        Row("-ERR no\r\n", .error(RedisReplyError("ERR no"))),
        Row(":0\r\n", .integer(0)),
        Row(":+7\r\n", .integer(7)),
        Row(":-9223372036854775808\r\n", .integer(.min)),
        Row("$5\r\nhello\r\n", .text("hello")),
        Row("$0\r\n\r\n", .text("")),
        Row("$4\r\na\r\nb\r\n", .text("a\r\nb")),
        Row("$-1\r\n", .null),
        Row("*-1\r\n", .null),
        Row("_\r\n", .null),
        Row("*0\r\n", .array([])),
        Row("*3\r\n:1\r\n$-1\r\n*1\r\n+a\r\n", .array([.integer(1), .null, .array([.text("a")])])),
        Row("*1\r\n-WRONGTYPE of key\r\n", .array([.error(RedisReplyError("WRONGTYPE of key"))])),
        Row("#t\r\n", .boolean(true)),
        Row("#f\r\n", .boolean(false)),
        Row(",1.5\r\n", .double(1.5)),
        Row(",-10\r\n", .double(-10)),
        Row(",1E+3\r\n", .double(1000)),
        Row(",inf\r\n", .double(.infinity)),
        Row(",-inf\r\n", .double(-.infinity)),
        Row("(-34928903284092385093248509438\r\n", .bigNumber("-34928903284092385093248509438")),
        Row("!22\r\nSYNTAX invalid\r\nsyntax\r\n", .error(RedisReplyError("SYNTAX invalid\r\nsyntax"))),
        Row("=8\r\ntxt:text\r\n", .text("text")),
        Row("=4\r\nmkd:\r\n", .text("")),
        Row("~2\r\n:1\r\n:2\r\n", .set([.integer(1), .integer(2)])),
        Row("%1\r\n+a\r\n%0\r\n", .map([.init(key: .text("a"), value: .map([]))])),
        Row(">2\r\n+invalidate\r\n_\r\n", .push([.text("invalidate"), .null])),
        Row(
            "|1\r\n+ttl\r\n:3\r\n:7\r\n",
            .attributes([.init(key: .text("ttl"), value: .integer(3))]),
            .reply(.integer(7))
        ),
        Row("*2\r\n|1\r\n+ttl\r\n:3\r\n:1\r\n|0\r\n:2\r\n", .array([.integer(1), .integer(2)])),
        Row("|0\r\n*0\r\n", .attributes([]), .reply(.array([]))),
        Row(":1\r\n>1\r\n+x\r\n:2\r\n", .reply(.integer(1)), .push([.text("x")]), .reply(.integer(2))),
    ]

    @Test(arguments: rows)
    func readsValuesWhereverTheyAreCut(row: Row) throws {
        let bytes = Array(row.input.utf8)
        for size in 1...bytes.count {
            var parser = RESPParser()
            let pieces = stride(from: 0, to: bytes.count, by: size).map { Array(bytes[$0...].prefix(size)) }
            #expect(try parser.messages(of: pieces) == row.messages)
            // Nothing is left of them.
            #expect(try parser.messages(of: [Array("+end\r\n".utf8)]) == [.reply(.text("end"))])
        }
    }

    @Test func readsNoNumber() throws {
        var parser = RESPParser()
        guard case .reply(.double(let value))? = try parser.messages(of: [Array(",nan\r\n".utf8)]).first else {
            Issue.record("The value is no double.")
            return
        }
        #expect(value.isNaN)
    }

    @Test(arguments: [
        ("\r\n", RESPSyntaxError.unknownType(13)),
        ("PONG\r\n", .unknownType(UInt8(ascii: "P"))),
        ("+a\nb\r\n", .invalidLineEnd),
        ("+a\rb\r\n", .invalidLineEnd),
        (":\r\n", .invalidScalar), (":1a\r\n", .invalidScalar), (":--1\r\n", .invalidScalar),
        (": 1\r\n", .invalidScalar),
        (":9223372036854775808\r\n", .invalidScalar),
        ("$+1\r\n", .invalidLength), ("$\r\n", .invalidLength), ("$-2\r\n", .invalidLength),
        ("$01\r\n", .invalidLength),
        ("$?\r\n", .invalidLength), ("*?\r\n", .invalidLength), ("%-1\r\n", .invalidLength),
        ("!-1\r\n", .invalidLength),
        ("$99999999999999999999\r\n", .bulkTooLarge), ("*99999999999999999999\r\n", .tooManyElements),
        ("$1\r\nab\r\n", .invalidLineEnd), ("$1\r\na\n\n", .invalidLineEnd),
        ("_x\r\n", .invalidScalar), ("#T\r\n", .invalidScalar), ("#\r\n", .invalidScalar),
        (",\r\n", .invalidScalar), (",1.\r\n", .invalidScalar), (",.5\r\n", .invalidScalar),
        (",0x1p3\r\n", .invalidScalar),
        (",1e\r\n", .invalidScalar), (",Infinity\r\n", .invalidScalar), ("(\r\n", .invalidScalar),
        ("(1.0\r\n", .invalidScalar),
        ("=3\r\ntxt\r\n", .invalidVerbatim), ("=5\r\nabcde\r\n", .invalidVerbatim),
        ("*1\r\n>0\r\n", .nestedPush),
    ])
    func rejectsOtherSyntax(input: String, error: RESPSyntaxError) {
        for pieces in [[Array(input.utf8)], input.utf8.map { [$0] }] {
            var parser = RESPParser()
            #expect(throws: error) { try parser.messages(of: pieces) }
            // The error remains, also with valid bytes after it.
            #expect(throws: error) { try parser.messages(of: [Array("+OK\r\n".utf8)]) }
        }
    }

    @Test(arguments: [
        ("$17\r\n", RESPSyntaxError.bulkTooLarge), ("=17\r\n", .bulkTooLarge), ("!17\r\n", .bulkTooLarge),
        ("*9\r\n", .tooManyElements), ("%5\r\n", .tooManyElements), ("*4\r\n*5\r\n", .tooManyElements),
        ("|5\r\n", .tooManyElements),
        ("*1\r\n*1\r\n*1\r\n*0\r\n", .tooDeep), ("*1\r\n*1\r\n|1\r\n%1\r\n", .tooDeep),
        ("+123456789012345678901", .lineTooLong), ("$00000000000000000000001\r\n", .lineTooLong),
        ("*4\r\n$16\r\n1234567890123456\r\n$16\r\n", .messageTooLarge),
    ])
    func announcedSizesBeyondALimitAreRejectedAtOnce(input: String, error: RESPSyntaxError) {
        var limits = RESPLimits()
        (limits.depth, limits.elements, limits.bulk, limits.total, limits.line) = (3, 8, 16, 30, 20)
        var parser = RESPParser(limits: limits)
        #expect(throws: error) { try parser.messages(of: [Array(input.utf8)]) }
    }

    @Test func limitsApplyToEachMessageAlone() throws {
        var limits = RESPLimits()
        (limits.elements, limits.total) = (2, 8)
        var parser = RESPParser(limits: limits)
        let message = Array("*2\r\n:1\r\n:2\r\n".utf8)
        #expect(try parser.messages(of: Array(repeating: message, count: 50)).count == 50)
    }

    @Test(arguments: 0..<200 as Range<UInt64>)
    func messagesDoNotDependOnWhereTheBytesAreCut(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        var (bytes, expected): ([UInt8], [RESPParser.Message]) = ([], [])
        for _ in 0..<Int.random(in: 1...30, using: &random) {
            guard let row = Self.rows.randomElement(using: &random) else { return }
            bytes += row.input.utf8
            expected += row.messages
        }
        var pieces: [[UInt8]] = []
        while !bytes.isEmpty {
            let count = Int.random(in: 0...min(40, bytes.count), using: &random)
            pieces.append(Array(bytes.prefix(count)))
            bytes.removeFirst(count)
        }
        var parser = RESPParser()
        #expect(try parser.messages(of: pieces) == expected)
    }
}

extension RedisValue {
    static func text(_ text: String) -> RedisValue { .bytes(Data(text.utf8)) }
}

extension RESPParser {
    mutating func messages(of pieces: [[UInt8]]) throws -> [Message] {
        var messages: [Message] = []
        for piece in pieces {
            piece.withUnsafeBytes { append($0) }
            while let message = try next() { messages.append(message) }
        }
        return messages
    }
}
