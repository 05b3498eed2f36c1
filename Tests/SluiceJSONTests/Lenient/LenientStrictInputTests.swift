import Foundation
import SluiceTesting
import Testing

@testable import SluiceJSON

/// JSON with the declared types decodes as with `JSONDecoder`.
@Suite struct LenientStrictInputTests {
    @Test(arguments: 0..<200)
    func decodesRandomModelsLikeJSONDecoder(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        let models = (0..<3).map { _ in Model(using: &generator, depth: 3) }
        let data = try JSONEncoder().encode(models)
        let expected = try JSONDecoder().decode([Model].self, from: data)
        #expect(try LenientJSONDecoder().decode([Model].self, from: data) == expected)
        #expect(try LenientJSONDecoder(convertsTypes: false).decode([Model].self, from: data) == expected)
    }

    @Test(arguments: 0..<100)
    func decodesLikeJSONDecoderWithStrategies(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        let model = Model(using: &generator, depth: 2)
        let encoder = JSONEncoder()
        encoder.keyEncodingStrategy = .convertToSnakeCase
        encoder.dateEncodingStrategy = [.iso8601, .secondsSince1970, .millisecondsSince1970][Int(seed % 3)]
        encoder.dataEncodingStrategy = .deferredToData
        encoder.outputFormatting = .prettyPrinted
        let data = try encoder.encode(model)
        let foundation = JSONDecoder()
        foundation.keyDecodingStrategy = .convertFromSnakeCase
        foundation.dateDecodingStrategy = [.iso8601, .secondsSince1970, .millisecondsSince1970][Int(seed % 3)]
        foundation.dataDecodingStrategy = .deferredToData
        let lenient = LenientJSONDecoder(
            convertsTypes: false,
            keyDecodingStrategy: foundation.keyDecodingStrategy,
            dateDecodingStrategy: foundation.dateDecodingStrategy,
            dataDecodingStrategy: .deferredToData
        )
        #expect(try lenient.decode(Model.self, from: data) == foundation.decode(Model.self, from: data))
    }

    @Test(arguments: 0..<200)
    func decodesRandomJSONLikeJSONDecoder(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        let data = Data(RandomJSON.text(depth: 4, using: &generator).utf8)
        let strict = LenientJSONDecoder(convertsTypes: false)
        #expect(try strict.decode(AnyJSON.self, from: data) == JSONDecoder().decode(AnyJSON.self, from: data))
    }

    @Test(arguments: [
        "0", "-0", "0.0", "-0.0", "1.0", "1e3", "10.0e-1", "1.5", "255", "256", "-128", "-129", "1e18", "1e19",
        "18446744073709551615",
        "18446744073709551616", "9007199254740993", "9007199254740993.0", "123456789012345678901234567890", "1e22",
        "1e23",
        "0.1", "0.30000000000000004", "1.7976931348623157e308", "1.7976931348623159e308", "4.9e-324", "1e-320",
        "2e-324",
        "3.4028235e38", "3.4028236e38", "1e-45", "1e-50", "16777217", "8.589973e9", "1e127", "1e128", "1e-128",
        "1e-129",
        "340282366920938463463374607431768211456", "0.1234567890123456789012345678901234567890123", "12.50", "100",
    ])
    func decodesNumbersLikeJSONDecoder(literal: String) {
        let data = Data("[\(literal)]".utf8)
        expectSame([Double].self, data)
        expectSame([Float].self, data)
        expectSame([Decimal].self, data)
        expectSame(Int.self, literal)
        expectSame(UInt.self, literal)
        expectSame(Int8.self, literal)
        expectSame(UInt64.self, literal)
    }

    @Test(arguments: 0..<300)
    func decodesRandomNumbersLikeJSONDecoder(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        let digits = { (range: ClosedRange<Int>) in
            (0..<Int.random(in: range, using: &generator)).map { _ in "\(Int.random(in: 0...9, using: &generator))" }
                .joined()
        }
        var literal = Bool.random(using: &generator) ? "-" : ""
        literal += "\(Int.random(in: 1...9, using: &generator))" + digits(0...20)
        if Bool.random(using: &generator) { literal += "." + digits(1...22) }
        if Bool.random(using: &generator) { literal += "e\(Int.random(in: -40...40, using: &generator))" }
        let data = Data("[\(literal)]".utf8)
        expectSame([Double].self, data)
        expectSame([Float].self, data)
        expectSame(Int64.self, literal)
        expectSame(UInt64.self, literal)
    }

    @Test(arguments: [
        "2023-11-14T22:13:20Z", "2023-11-14T22:13:20.123Z", "2023-11-14T22:13:20+01:00", "2023-11-14T22:13:20",
        "2023-11-14 22:13:20Z", "20231114T221320Z", "2023-02-30T00:00:00Z", "1969-12-31T23:59:59Z", "x",
    ])
    func decodesISO8601DatesLikeJSONDecoder(text: String) {
        let data = Data("[\"\(text)\"]".utf8)
        let foundation = JSONDecoder()
        foundation.dateDecodingStrategy = .iso8601
        let expected = try? foundation.decode([Date].self, from: data)
        #expect((try? LenientJSONDecoder(dateDecodingStrategy: .iso8601).decode([Date].self, from: data)) == expected)
    }

    @Test(arguments: [
        "", "a b", "http://a b", "https://é.de/ü?x=ä#ö", "http://[::1", "%zz", "//", "mailto:a@b", "http://a.b:99999",
    ])
    func decodesURLsLikeJSONDecoder(text: String) throws {
        try expectSame([URL].self, JSONEncoder().encode([text]))
    }

    /// JSONDecoder may convert through Double and accept a number that is not quite an integer, with a loss of precision.
    private func expectSame<Value: Decodable & FixedWidthInteger>(_ type: Value.Type, _ literal: String) {
        let data = Data("[\(literal)]".utf8)
        let expected = try? JSONDecoder().decode([Value].self, from: data).first
        let value = try? LenientJSONDecoder(convertsTypes: false).decode([Value].self, from: data).first
        if value == nil, let expected, Decimal(string: literal) != Decimal(string: "\(expected)") { return }
        #expect(value == expected, "\(literal)")
    }

    private func expectSame<Value: Decodable & Equatable>(_ type: Value.Type, _ data: Data) {
        let expected = try? JSONDecoder().decode(type, from: data)
        let value = try? LenientJSONDecoder(convertsTypes: false).decode(type, from: data)
        #expect(value == expected, "\(String(decoding: data, as: UTF8.self))")
    }
}

/// A model with every kind of member.
private struct Model: Codable, Equatable {
    enum Level: Int, Codable { case low, high }
    enum Code: String, Codable { case first, second = "2nd" }
    enum Shape: Codable, Equatable {
        case circle(radius: Double)
        case square(Int)
        case none
    }

    var intValue: Int
    var smallValue: Int8
    var largeValue: UInt64
    var doubleValue: Double
    var floatValue: Float
    var boolValue: Bool
    var stringValue: String
    var optionalInt: Int?
    var optionalString: String?
    var createdDate: Date
    var someData: Data
    var homePage: URL
    var exactDecimal: Decimal
    var level: Level
    var codes: [Code]
    var shapes: [Shape]
    var matrix: [[Double?]]
    var byName: [String: [String: Bool]]
    var byNumber: [Int: String]
    var byLevel: [Level: Int]
    var setOfInts: Set<Int>
    var range: Range<Int>
    var uuid: UUID
    var children: [Model]

    init(using generator: inout SeededGenerator, depth: Int) {
        func number(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &generator) }
        func text() -> String {
            let pieces = ["a", "Ω", "\"", "\\", "\n", "\u{1}", "𝄞", " long piece of text ", "e\u{301}", "/"]
            return (0..<number(0...6)).map { _ in pieces[number(0...(pieces.count - 1))] }.joined()
        }
        intValue = number(.min ... .max)
        smallValue = Int8(number(-128...127))
        largeValue = .random(in: 0 ... .max, using: &generator)
        doubleValue = Double(bitPattern: .random(in: 0...0x7FE0_0000_0000_0000, using: &generator))
        floatValue = .random(in: -1e9...1e9, using: &generator)
        boolValue = .random(using: &generator)
        stringValue = text()
        optionalInt = .random(using: &generator) ? number(0...9) : nil
        optionalString = .random(using: &generator) ? text() : nil
        createdDate = Date(timeIntervalSince1970: Double(number(-1_000_000_000...4_000_000_000)))
        someData = Data((0..<number(0...20)).map { _ in UInt8(number(0...255)) })
        homePage = URL(fileURLWithPath: "/a b/\(number(0...9))")
        exactDecimal = Decimal(number(-1_000_000...1_000_000)) / 1000
        level = .random(using: &generator) ? .low : .high
        codes = .random(using: &generator) ? [.first, .second] : []
        shapes = [.circle(radius: 1.5), .square(number(0...9)), .none].shuffled(using: &generator)
        matrix = (0..<number(0...3)).map { _ in
            (0..<number(0...3)).map { _ in Bool.random(using: &generator) ? 0.25 : nil }
        }
        byName = Dictionary((0..<number(0...20)).map { ("key_\($0)" + text(), ["x_y": $0 > 3]) }) { first, _ in first }
        byNumber = Dictionary(uniqueKeysWithValues: (0..<number(0...3)).map { ($0 * 7, "v") })
        byLevel = .random(using: &generator) ? [.low: 1, .high: 2] : [:]
        setOfInts = Set((0..<number(0...5)).map { $0 * 3 })
        range = 0..<number(0...10)
        uuid = UUID(uuidString: "00000000-0000-0000-0000-0000000000\(number(10...99))") ?? UUID()
        children = depth > 0 && .random(using: &generator) ? [Model(using: &generator, depth: depth - 1)] : []
    }
}
