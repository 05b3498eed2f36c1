import Foundation
import Testing

@testable import SluiceJSON

@Suite struct LenientConversionTests {
    private func decode<Value: Decodable>(
        _ type: Value.Type,
        _ text: String,
        _ decoder: LenientJSONDecoder = LenientJSONDecoder()
    ) throws -> Value {
        // Once through a generic container of elements, and once through the other containers.
        let element = try decoder.decode([Value].self, from: Data("[\(text)]".utf8))
        _ = try decoder.decode(Value.self, from: Data(text.utf8))
        return try #require(element.first)
    }

    @Test(arguments: [
        ("1", 1), ("\"1\"", 1), ("\" 1 \"", 1), ("\"\\t-7\\n\"", -7), ("\"1.0\"", 1), ("\"1e3\"", 1000), ("\"+5\"", 5),
        ("\"007\"", 7), ("1.0", 1), ("1e3", 1000), ("1.5e1", 15), ("100e-2", 1), ("-0", 0), ("-0.0", 0),
        ("0e999999999999", 0),
        ("true", 1), ("false", 0), ("\"\\u0031\"", 1), ("9223372036854775807", .max),
        ("\"-9223372036854775808\"", .min),
        ("9007199254740993.0", 9_007_199_254_740_993), ("1.00000000000000000000000000000", 1),
        ("\"-9223372036854775808.000000000000000\"", .min), ("922337203685477580700e-2", .max), ("\"5.\"", 5),
    ])
    func convertsToInt(text: String, value: Int) throws {
        #expect(try decode(Int.self, text) == value)
    }

    @Test(arguments: [
        "1.5", "\"1.5\"", "\"abc\"", "\"\"", "\" \"", "\"1 2\"", "\"1,000\"", "\"0x10\"", "\"1e\"", "\"--1\"", "\"+\"",
        "\".\"",
        "\"1.0.0\"", "\"nan\"", "\"inf\"", "\"true\"", "9223372036854775808", "-9223372036854775809", "1e19",
        "\"1e400\"", "1e-1", "1e-400", "12345678901234567890.5", "0.00000000000000000001", "[1]", "{}", "null",
        "\"１\"", "\"1\\u0000\"", "1e999999999999999999999", "-1e-999999999999999999999",
    ])
    func rejectsNonIntegers(text: String) {
        #expect(throws: DecodingError.self) { try decode(Int.self, text) }
        #expect(throws: DecodingError.self) { try LenientJSONDecoder().decode(Int.self, from: Data(text.utf8)) }
    }

    @Test func rejectsIntegersOutOfRange() throws {
        #expect(try decode(UInt8.self, "\"255\"") == 255)
        #expect(try decode(Int8.self, "-128.0") == -128)
        #expect(try decode(Int16.self, "\"-32768\"") == .min)
        #expect(try decode(UInt16.self, "65535") == .max)
        #expect(try decode(Int32.self, "-2147483648") == .min)
        #expect(try decode(UInt32.self, "4294967295") == .max)
        #expect(try decode(Int64.self, "-9223372036854775808") == .min)
        #expect(try decode(UInt64.self, "18446744073709551615") == .max)
        #expect(try decode(UInt.self, "\"18446744073709551615.0\"") == .max)
        #expect(try decode(Int128.self, "\"-170141183460469231731687303715884105728\"") == .min)
        #expect(try decode(UInt128.self, "340282366920938463463374607431768211455") == .max)
        #expect(try decode(UInt128.self, "1e38") == 100_000_000_000_000_000_000_000_000_000_000_000_000)
        #expect(throws: DecodingError.self) { try decode(UInt8.self, "300") }
        #expect(throws: DecodingError.self) { try decode(UInt8.self, "-1") }
        #expect(throws: DecodingError.self) { try decode(Int8.self, "\"128\"") }
        #expect(throws: DecodingError.self) { try decode(Int8.self, "-129") }
        #expect(throws: DecodingError.self) { try decode(UInt64.self, "18446744073709551616") }
        #expect(throws: DecodingError.self) { try decode(UInt64.self, "-18446744073709551615") }
        #expect(throws: DecodingError.self) { try decode(UInt128.self, "340282366920938463463374607431768211456") }
        #expect(throws: DecodingError.self) { try decode(Int128.self, "1e39") }
    }

    @Test(arguments: [
        ("1", 1.0), ("1.5", 1.5), ("\"1.5\"", 1.5), ("\" -2e-3 \"", -0.002), ("\".5\"", 0.5), ("true", 1), ("false", 0),
        ("0.1", 0.1), ("0.30000000000000004", 0.30000000000000004),
        ("123456789012345678901234567890", 1.2345678901234568e29),
        ("\"1e22\"", 1e22), ("1e23", 1e23), ("4.9e-324", .leastNonzeroMagnitude),
        ("1.7976931348623157e308", .greatestFiniteMagnitude),
        ("9007199254740993", 9_007_199_254_740_992), ("0e999", 0),
    ])
    func convertsToDouble(text: String, value: Double) throws {
        #expect(try decode(Double.self, text) == value)
    }

    @Test(arguments: [
        ("\"0.1\"", 0.1), ("16777217", 16_777_216), ("3.4028235e38", .greatestFiniteMagnitude), ("true", 1),
    ])
    func convertsToFloat(text: String, value: Float) throws {
        #expect(try decode(Float.self, text) == value)
    }

    @Test(arguments: [
        "1e400", "\"-1e400\"", "1e-400", "\"nan\"", "\"inf\"", "\"Infinity\"", "\"abc\"", "\"\"", "\"0x1p3\"", "[]",
    ])
    func rejectsNonNumbers(text: String) {
        #expect(throws: DecodingError.self) { try decode(Double.self, text) }
        #expect(throws: DecodingError.self) { try decode(Float.self, text) }
    }

    @Test(arguments: [
        ("12345678901234567890123", "12345678901234567890123"), ("1.10", "1.10"), ("-0", "-0"), ("1E5", "1E5"),
        ("true", "true"), ("false", "false"), ("\"\"", ""), ("\" a \"", " a "), ("\"\\u00e9\\n\"", "é\n"),
    ])
    func convertsScalarsToTheirText(text: String, value: String) throws {
        #expect(try decode(String.self, text) == value)
    }

    @Test(arguments: [
        ("true", true), ("false", false), ("1", true), ("0", false), ("1.0", true), ("0.0", false), ("\"1\"", true),
        ("\"0\"", false), ("\"true\"", true), ("\"FALSE\"", false), ("\"Yes\"", true), ("\"nO\"", false),
        ("\" true \"", true),
        ("\"\\u0079es\"", true),
    ])
    func convertsToBool(text: String, value: Bool) throws {
        #expect(try decode(Bool.self, text) == value)
    }

    @Test(arguments: [
        "2", "-1", "0.5", "1e400", "\"\"", "\"2\"", "\"y\"", "\"on\"", "\"truely\"", "\"\\u0011\"", "null", "[]", "{}",
    ])
    func rejectsOtherTextForBool(text: String) {
        #expect(throws: DecodingError.self) { try decode(Bool.self, text) }
    }

    @Test(arguments: ["[]", "{}", "null"])
    func rejectsContainersAndNullForString(text: String) {
        #expect(throws: DecodingError.self) { try decode(String.self, text) }
    }

    @Test func convertsRawValuesOfEnums() throws {
        enum Level: Int, Decodable { case low, high }
        enum Code: String, Decodable { case one = "1", yes = "true" }
        #expect(try decode(Level.self, "\"1\"") == .high)
        #expect(try decode(Level.self, "false") == .low)
        #expect(try decode(Code.self, "1") == .one)
        #expect(try decode(Code.self, "true") == .yes)
        #expect(throws: DecodingError.self) { try decode(Level.self, "2") }
        #expect(throws: DecodingError.self) { try decode(Code.self, "1.0") }
    }

    @Test func rejectsSingleValueForArray() {
        for text in ["1", "\"a\"", "{}"] {
            #expect(throws: DecodingError.self) {
                try LenientJSONDecoder().decode([String].self, from: Data(text.utf8))
            }
        }
    }

    @Test func conversionsCanBeDisabled() throws {
        try expectConversion(Int.self, "\"1\"")
        try expectConversion(Double.self, "\"1.5\"")
        try expectConversion(Decimal.self, "\"1.5\"")
        try expectConversion(Date.self, "\"1.5\"")
        try expectConversion(String.self, "1")
        try expectConversion(String.self, "true")
        try expectConversion(Bool.self, "1")
        try expectConversion(Bool.self, "\"yes\"")
        try expectConversion(Int.self, "true")
        try expectConversion(Double.self, "false")
        try expectConversion(Decimal.self, "true")
        try expectConversion([Int].self, "\"[1]\"")
        try expectConversion([String: Int].self, "\"{\\\"a\\\":1}\"")
    }

    private func expectConversion<Value: Decodable & Equatable>(_ type: Value.Type, _ text: String) throws {
        _ = try decode(type, text)
        #expect(throws: DecodingError.self) { try decode(type, text, LenientJSONDecoder(convertsTypes: false)) }
    }

    @Test func withoutConversionsDecodesStrictly() {
        let strict = LenientJSONDecoder(convertsTypes: false)
        for text in ["\"1\"", "true", "[]", "{}"] {
            #expect(throws: DecodingError.self) { try strict.decode(Int.self, from: Data(text.utf8)) }
            #expect(throws: DecodingError.self) { try strict.decode(Double.self, from: Data(text.utf8)) }
        }
        for text in ["1", "true", "1.5"] {
            #expect(throws: DecodingError.self) { try strict.decode(String.self, from: Data(text.utf8)) }
        }
        for text in ["1", "\"true\"", "\"1\""] {
            #expect(throws: DecodingError.self) { try strict.decode(Bool.self, from: Data(text.utf8)) }
        }
        #expect(throws: DecodingError.self) { try strict.decode([Int].self, from: Data("\"[1]\"".utf8)) }
    }
}
