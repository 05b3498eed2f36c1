import Sluice
import Testing

@Suite struct JSONNumberTests {
    @Test(arguments: [
        "0", "-0", "1", "-1", "10", "1.10", "0.0", "-0.0", "1e5", "1E+5", "1e-5", "12345678901234567890123", "1e400",
        "0e999999999999999999999", "-1.5e-10",
    ])
    func keepsDigitsOfLiteral(literal: String) throws {
        #expect(try #require(JSONNumber(literal)).text == literal)
        #expect(try JSON(parsing: literal).description == literal)
        #expect(try JSON(parsing: literal).stringValue == literal)
    }

    @Test(arguments: [
        "", "-", "+1", "01", "-01", ".5", "5.", "1e", "1e+", "1.e5", "0x10", "NaN", "inf", "-inf", "1_000", " 1", "1 ",
        "1,5",
        "１", "1e5.5", "--1",
    ])
    func rejectsInvalidLiteral(text: String) {
        #expect(JSONNumber(text) == nil)
    }

    @Test(arguments: [
        ["1", "1.0", "1.00", "10e-1", "0.1e1", "1e0", "1E+0", "100e-2"],
        ["0", "-0", "0.0", "0e5", "0e999999999999999999999", "-0.0e-3"],
        ["120", "1.2e2", "12e1", "120.0"],
        ["-5e-3", "-0.005", "-0.0050"],
        ["12345678901234567890123", "12345678901234567890123.0", "1234567890123456789012.3e1"],
        ["1e400", "10e399", "1e+400"],
        ["1e99999999999999999999"],
        ["1e-99999999999999999999"],
        ["9007199254740993"],
        ["9007199254740992", "9.007199254740992e15"],
        ["1e-400"],
        ["2e-400"],
        ["2e400"],
        ["-1e400"],
    ])
    func comparesNumbersByValue(literals: [String]) throws {
        let numbers = try literals.map { try #require(JSONNumber($0)) }
        for number in numbers {
            #expect(number == numbers[0])
            #expect(number.hashValue == numbers[0].hashValue)
            for other in [
                "1.5", "-1", "7", "12345678901234567890124", "9007199254740994", "3e400", "1e99999999999999999998",
            ] {
                #expect(number != JSONNumber(other))
            }
        }
        #expect(Set(numbers).count == 1)
    }

    @Test func distinguishesNumbersWithSameDouble() {
        #expect(JSONNumber("9007199254740993") != JSONNumber("9007199254740992"))
        #expect(JSONNumber("1e400") != JSONNumber("2e400"))
        #expect(JSONNumber("1e-400") != JSONNumber("0"))
        #expect(JSONNumber("0.1") != JSONNumber("0.1000000000000000000001"))
    }

    @Test func convertsIntegersExactlyAtBounds() {
        #expect(JSON(Int64.min).int64 == .min)
        #expect(JSON(Int64.max).int64 == .max)
        #expect(JSON(UInt64.max).uint64 == .max)
        #expect(JSON(Int128.min).description == "-170141183460469231731687303715884105728")
        #expect(JSONNumber("170141183460469231731687303715884105727")?.exactly(Int128.self) == .max)
        #expect(JSONNumber("9223372036854775807.0")?.exactly(Int64.self) == .max)
        #expect(JSONNumber("9223372036854775808")?.exactly(Int64.self) == nil)
        #expect(JSONNumber("-9223372036854775808.00")?.exactly(Int64.self) == .min)
        #expect(JSONNumber("-9223372036854775809")?.exactly(Int64.self) == nil)
        #expect(JSONNumber("18446744073709551615e0")?.exactly(UInt64.self) == .max)
        #expect(JSONNumber("18446744073709551616")?.exactly(UInt64.self) == nil)
        #expect(JSONNumber("-1")?.exactly(UInt64.self) == nil)
        #expect(JSONNumber("-0")?.exactly(UInt64.self) == 0)
        #expect(JSONNumber("-0.0e5")?.exactly(UInt8.self) == 0)
        #expect(JSONNumber("255.0")?.exactly(UInt8.self) == 255)
        #expect(JSONNumber("256")?.exactly(UInt8.self) == nil)
        #expect(JSONNumber("1.28e2")?.exactly(Int8.self) == nil)
        #expect(JSONNumber("-1.28e2")?.exactly(Int8.self) == -128)
    }

    @Test(arguments: [
        "1.5", "1e-1", "1e400", "1e19", "1e99999999999999999999", "1e-99999999999999999999", "1e9223372036854775807",
    ])
    func returnsNilForFractionsAndLargeNumbers(literal: String) {
        #expect(JSONNumber(literal)?.exactly(Int64.self) == nil)
    }

    @Test func returnsNearestDoubleOrNil() throws {
        #expect(JSONNumber("0.1")?.double == 0.1)
        #expect(JSONNumber("1e400")?.double == nil)
        #expect(JSONNumber("-1e400")?.double == nil)
        #expect(JSONNumber("1e-400")?.double == 0)
        #expect(JSONNumber("-0")?.double?.sign == .minus)
        #expect(JSONNumber("179769313486231570e291")?.double == .greatestFiniteMagnitude)
        #expect(JSONNumber(Double.nan) == nil)
        #expect(JSONNumber(-Double.infinity) == nil)
        for value: Double in [0.1, 1e16, .leastNonzeroMagnitude, .greatestFiniteMagnitude, -0.0, 1 / 3] {
            #expect(try #require(JSONNumber(value)).double == value)
        }
        #expect(JSONNumber(Float(0.1))?.text == "0.1")
    }
}
