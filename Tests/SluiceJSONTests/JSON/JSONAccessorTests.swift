import Sluice
import Testing

@Suite struct JSONAccessorTests {
    /// A value, and the results of its strict and lenient accessors.
    struct Row: Sendable {
        var json: JSON
        var string: String?
        var int: Int?
        var uint64: UInt64?
        var double: Double?
        var bool: Bool?
        var array: [JSON]?
        var dictionary: [String: JSON]?
        var stringValue = ""
        var intValue = 0
        var uint64Value: UInt64 = 0
        var doubleValue = 0.0
        var boolValue = false
        var count = 0
    }

    static func number(_ text: String) -> JSON {
        .number(JSONNumber(text) ?? JSONNumber(Int.min))
    }

    static func text(_ text: String, int: Int = 0, double: Double = 0, bool: Bool = false) -> Row {
        Row(
            json: .string(text),
            string: text,
            stringValue: text,
            intValue: int,
            uint64Value: UInt64(clamping: int),
            doubleValue: double,
            boolValue: bool
        )
    }

    @Test(
        arguments: [
            ("+9007199254740993", 9_007_199_254_740_993), ("0010000000000000001", 10_000_000_000_000_001),
            ("-0009007199254740993", -9_007_199_254_740_993), (" +0 ", 0), ("-0", 0), ("007.9", 7), ("+.5", 0),
            ("+-1", 0), ("--1", 0),
        ] as [(String, Int)]
    )
    func integersInTextsAreExact(_ text: String, _ number: Int) {
        #expect(JSON.string(text).intValue == number)
    }

    static let rows: [Row] = [
        Row(json: .null),
        Row(json: true, bool: true, stringValue: "true", intValue: 1, uint64Value: 1, doubleValue: 1, boolValue: true),
        Row(json: false, bool: false, stringValue: "false"),
        Row(json: [], array: []),
        Row(json: [1, "a"], array: [1, "a"], count: 2),
        Row(json: [:], dictionary: [:]),
        Row(json: ["a": 1], dictionary: ["a": 1], count: 1),
        Row(json: 0, int: 0, uint64: 0, double: 0, stringValue: "0"),
        Row(
            json: 12,
            int: 12,
            uint64: 12,
            double: 12,
            stringValue: "12",
            intValue: 12,
            uint64Value: 12,
            doubleValue: 12,
            boolValue: true
        ),
        Row(json: -3, int: -3, double: -3, stringValue: "-3", intValue: -3, doubleValue: -3, boolValue: true),
        Row(
            json: number("1.0"),
            int: 1,
            uint64: 1,
            double: 1,
            stringValue: "1.0",
            intValue: 1,
            uint64Value: 1,
            doubleValue: 1,
            boolValue: true
        ),
        Row(
            json: number("12.9"),
            double: 12.9,
            stringValue: "12.9",
            intValue: 12,
            uint64Value: 12,
            doubleValue: 12.9,
            boolValue: true
        ),
        Row(json: number("-0.5"), double: -0.5, stringValue: "-0.5", doubleValue: -0.5, boolValue: true),
        Row(json: number("1e400"), stringValue: "1e400", boolValue: true),
        Row(json: number("1e-400"), double: 0, stringValue: "1e-400", boolValue: true),
        Row(json: number("-0.0e7"), int: 0, uint64: 0, double: 0, stringValue: "-0.0e7"),
        Row(
            json: number("18446744073709551615"),
            uint64: .max,
            double: 18446744073709551616,
            stringValue: "18446744073709551615",
            uint64Value: .max,
            doubleValue: 18446744073709551616,
            boolValue: true
        ),
        text(""),
        text("Ada"),
        text("12", int: 12, double: 12),
        text(" 12\n", int: 12, double: 12),
        text("12.7", int: 12, double: 12.7),
        text("-12.7e1", int: -127, double: -127),
        text("+5", int: 5, double: 5),
        text("007", int: 7, double: 7),
        text(".5", double: 0.5),
        text("0x10"),
        text("nan"),
        text("inf"),
        text("1 2"),
        text("-"),
        text("1e400"),
        text("true", bool: true),
        text("YES", bool: true),
        text("1", int: 1, double: 1, bool: true),
        text("false"),
        text("no"),
    ]

    @Test(arguments: rows)
    func strictAccessorsDoNotConvert(row: Row) {
        #expect(row.json.string == row.string)
        #expect(row.json.int == row.int)
        #expect(row.json.int64 == row.int.map(Int64.init))
        #expect(row.json.uint64 == row.uint64)
        #expect(row.json.double == row.double)
        #expect(row.json.bool == row.bool)
        #expect(row.json.array == row.array)
        #expect(row.json.dictionary == row.dictionary)
        #expect(row.json.isNull == (row.json == .null))
        #expect(row.json.count == row.count)
    }

    @Test(arguments: rows)
    func lenientAccessorsReturnValueForEveryKind(row: Row) {
        #expect(row.json.stringValue == row.stringValue)
        #expect(row.json.intValue == row.intValue)
        #expect(row.json.int64Value == Int64(row.intValue))
        #expect(row.json.uint64Value == row.uint64Value)
        #expect(row.json.doubleValue == row.doubleValue)
        #expect(row.json.boolValue == row.boolValue)
        #expect(row.json.arrayValue == row.array ?? [])
        #expect(row.json.dictionaryValue == row.dictionary ?? [:])
    }

    @Test func describesKinds() {
        let all: [JSON] = [nil, true, 1, "a", [], [:]]
        #expect(
            all.map { "\(JSON.Kind($0))" } == ["null", "a boolean", "a number", "a string", "an array", "an object"]
        )
    }
}
