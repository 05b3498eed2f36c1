import Foundation
import Sluice
import Testing

@Suite struct FormValueTests {
    private enum Level: String, Encodable, Sendable {
        case low, high = "very high"
    }

    private enum Shape: Encodable, Sendable {
        case circle(radius: Int), point
    }

    private struct Filter: Encodable, Sendable {
        var level = Level.high
        var range = Range(from: 1, to: nil)
        var shapes: [Shape] = [.circle(radius: 2), .point]

        struct Range: Encodable, Sendable {
            var from: Int?
            var to: Int?
        }
    }

    private struct Wrapped: Encodable, Sendable {
        var value: [String: Int]

        func encode(to encoder: any Encoder) throws {
            var container = encoder.singleValueContainer()
            try container.encode(value)
        }
    }

    private struct Empty: Encodable, Sendable {}

    private struct Silent: Encodable, Sendable {
        func encode(to encoder: any Encoder) throws {}
    }

    private struct EveryNumber: Encodable, Sendable {
        var a = Int.min
        var b = Int8.min
        var c = Int16.min
        var d = Int32.min
        var e = Int64.min
        var f = Int128.min
        var g = UInt.max
        var h = UInt8.max
        var i = UInt16.max
        var j = UInt32.max
        var k = UInt64.max
        var l = UInt128.max
        var m = Double.greatestFiniteMagnitude
        var n = Float.leastNonzeroMagnitude
        var o = -0.0
        var p = 1.0
    }

    @Test(arguments: [
        FormExample(["a": "b"], is: "a=b"),
        FormExample(["": ""], is: "="),
        FormExample(["": 1], is: "=1"),
        FormExample(["": ["": 1]], is: "[]=1"),
        FormExample(["": ["a": [1]]], is: "[a][]=1"),
        FormExample([1: "x", 10: "y", 9: "z"], is: "1=x&10=y&9=z"),
        FormExample(["a=b&c": "d=e&f"], is: "a%3Db%26c=d%3De%26f"),
        FormExample(["a+b%20": "50% + #1/2?"], is: "a%2Bb%2520=50%25%20%2B%20%231%2F2%3F"),
        FormExample(["größe": "日本 🇯🇵"], is: "gr%C3%B6%C3%9Fe=%E6%97%A5%E6%9C%AC%20%F0%9F%87%AF%F0%9F%87%B5"),
        FormExample(["a": "\0\t\r\n\u{7F}"], is: "a=%00%09%0D%0A%7F"),
        FormExample(["a": "-._~AZaz09"], is: "a=-._~AZaz09"),
        FormExample(["a[b]": 1], is: "a[b]=1"),
        FormExample(["a": URL(string: "https://a.b/c?d=e")], is: "a=https%3A%2F%2Fa.b%2Fc%3Fd%3De"),
        FormExample(["a": Decimal(string: "-12345678901234567890.0123")], is: "a=-12345678901234567890.0123"),
        FormExample(
            ["a": UUID(uuid: (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16))],
            is: "a=01020304-0506-0708-090A-0B0C0D0E0F10"
        ),
        FormExample(["a": Level.low], is: "a=low"),
        FormExample([Level.low.rawValue: [Level.high]], is: "low[]=very%20high"),
        FormExample(["a": [Float(0.1), Float(1e10)]], is: "a[]=0.1&a[]=1e%2B10"),
        FormExample(["a": [true, false, nil]], is: "a[]=1&a[]=0"),
        FormExample(["a": Set([7])], is: "a[]=7"),
        FormExample(["a": 1..<3], is: "a[]=1&a[]=3"),
    ])
    func dictionariesAreEncoded(_ example: FormExample) throws {
        #expect(try example.encoded() == example.text)
    }

    @Test(arguments: [
        FormExample(
            Filter(),
            is: "level=very%20high&range[from]=1&shapes[][circle][radius]=2"
        ),
        FormExample(Wrapped(value: ["a": 1]), is: "a=1"),
        FormExample(["w": Wrapped(value: ["a": 1])], is: "w[a]=1"),
        FormExample(Optional(Wrapped(value: ["a": 1])), is: "a=1"),
        FormExample(Filter?.none, is: ""),
        FormExample(Filter?.none, .init(nilEncoding: .null), is: ""),
        FormExample(
            EveryNumber(),
            is: "a=-9223372036854775808&b=-128&c=-32768&d=-2147483648&e=-9223372036854775808"
                + "&f=-170141183460469231731687303715884105728&g=18446744073709551615&h=255&i=65535&j=4294967295"
                + "&k=18446744073709551615&l=340282366920938463463374607431768211455"
                + "&m=1.7976931348623157e%2B308&n=1e-45&o=-0.0&p=1.0"
        ),
    ])
    func structuresAreEncoded(_ example: FormExample) throws {
        #expect(try example.encoded() == example.text)
    }

    @Test(arguments: [
        FormExample([String: Int](), is: ""),
        FormExample(Empty(), is: ""),
        FormExample(Silent(), is: ""),
        FormExample(["a": [Int]()], is: ""),
        FormExample(["a": [[Int]]([[], []])], is: ""),
        FormExample(["a": [String: Int]()], is: ""),
        FormExample(["a": [Empty(), Empty()]], .init(nilEncoding: .null), is: ""),
        FormExample(["a": Silent()], .init(nilEncoding: .null), is: ""),
        FormExample(["a": Data()], .init(dataEncoding: .deferredToData), is: ""),
        FormExample(["a": Data()], is: "a="),
        FormExample(["a": ["b": [[String: Int]()]], "c": [:]], is: ""),
        FormExample(["a": [[:], ["b": 1]]], .init(arrayEncoding: .indexInBrackets), is: "a[1][b]=1"),
    ])
    func emptyContainersAreOmitted(_ example: FormExample) throws {
        #expect(try example.encoded() == example.text)
    }

    @Test func manyFieldsAreEachWrittenOnce() throws {
        let values = Dictionary(uniqueKeysWithValues: (100..<1000).map { ("k\($0)", $0) })
        let text: String = try URLEncodedFormEncoder().encode(values)
        #expect(text == (100..<1000).map { "k\($0)=\($0)" }.joined(separator: "&"))
    }
}
