import Foundation

@testable import Sluice
@testable import SluiceCache
@testable import SluiceHTTP
@testable import SluiceJSON
@testable import SluiceTesting

extension FuzzTarget {
    /// Parses JSON. A plain reader of RFC 8259 accepts the same texts, and a value survives writing and reading.
    static let json = FuzzTarget("json") { bytes in
        let data = Data(bytes)
        let isValid = ReferenceJSON.isValid(Array(bytes))
        let json: JSON
        do throws(JSONSyntaxError) {
            json = try JSON(parsing: data)
        } catch {
            try promise(!isValid, "A valid text is refused: \(error)")
            try promise((0...data.count).contains(error.offset) && error.line > 0 && error.column > 0, "\(error)")
            return
        }
        try promise(isValid, "What is no JSON is taken for it.")
        try checkRoundTrip(of: json)
        let text = String(decoding: data, as: UTF8.self)
        try promise((try? JSON(parsing: text)) == json, "As a string it is another.")
        let node = try JSONNode(parsing: data)
        try promise(try JSONNode(parsing: node.compact) == node, "A node is read as another.")
        try promise(try JSONNode(parsing: node.pretty) == node, "A pretty node is read as another.")
        try promise(try JSON(parsing: node.compact) == json, "A node is another value.")
        if let layout = JSONLayout.text(text, limit: .max) {
            try promise(try JSON(parsing: layout) == json, "Laid out it is another.")
        }
        try checkAgainstFoundation(data, json)
    }

    private static func checkRoundTrip(of json: JSON) throws {
        let compact = json.encoded()
        let again = try JSON(parsing: compact)
        try promise(again == json && again.hashValue == json.hashValue, "It is read as another.")
        try promise(again.encoded() == compact, "It is written in another way.")
        try promise(try JSON(parsing: json.encoded(.pretty)) == json, "Pretty, it is read as another.")
    }

    /// Checks that Foundation accepts the same texts and reads the same strings.
    private static func checkAgainstFoundation(_ data: Data, _ json: JSON) throws {
        // Foundation guesses the encoding from zeros and byte order marks, and rejects numbers beyond Double.
        let hasExponent = zip(data, data.dropFirst()).contains { (0x30...0x39).contains($0) && $1 | 0x20 == 0x65 }
        if data.contains(0) || data.starts(with: [0xEF, 0xBB, 0xBF]) || hasExponent || data.count > 256 { return }
        let value = try? JSONSerialization.jsonObject(with: data, options: .fragmentsAllowed)
        guard let value else { throw BrokenPromise(description: "Foundation takes it for no JSON.") }
        switch json {
        case .string(let text):
            // Foundation drops a byte order mark at the start of a string. RFC 8259 §7 treats it like any character.
            let isMarked = text.unicodeScalars.first == "\u{FEFF}"
            let expected = isMarked ? String(text.unicodeScalars.dropFirst()) : text
            try promise(
                (value as? String) == expected || (value as? String) == text,
                "A string is another to Foundation."
            )
        case .array(let elements): try promise((value as? [Any])?.count == elements.count, "An array is longer.")
        case .object(let members):
            try promise((value as? [String: Any]).map { Set($0.keys) } == Set(members.keys), "There are other names.")
        default: break
        }
    }

    /// Parses a JSON number a line, at most two. All number readers of Sluice agree, also with those of Swift.
    static let jsonNumber = FuzzTarget("json-number") { bytes in
        var input = FuzzInput(bytes)
        let texts = [input.line(), input.line()]
        for text in texts { try check(text) }
        guard let left = JSONNumber(texts[0]), let right = JSONNumber(texts[1]) else { return }
        try promise((left == right) == (right == left), "Only one of two numbers is equal to the other.")
        try promise(left != right || left.hashValue == right.hashValue, "Two equal numbers have two hashes.")
        if let first = left.exactly(Int128.self), let second = right.exactly(Int128.self) {
            try promise((left == right) == (first == second), "\(left) and \(right) are compared wrongly.")
        }
    }

    private static func check(_ text: String) throws {
        let number = JSONNumber(text)
        let isNumber = text.utf8.first.map { $0 == 0x2D || (0x30...0x39).contains($0) } ?? false
        let isWhole = text.utf8.last.map { (0x30...0x39).contains($0) } ?? false
        let parsed = isNumber && isWhole ? (try? JSON(parsing: text)) : nil
        if case .number(let read)? = parsed {
            try promise(read.text == text && number == read, "\(text) is read as \(read).")
        } else {
            try promise(number == nil, "\(text) is a number, and no JSON.")
        }
        var copy = text
        let literal = copy.withUTF8 { NumberLiteral($0) }
        try promise(number == nil || literal != nil, "\(text) is no literal.")
        guard let literal else { return }
        let double: Double? = copy.withUTF8 { literal.floating($0) }
        try promise(double == nil || double == Double(text), "\(text) is \(double ?? .nan).")
        let float: Float? = copy.withUTF8 { literal.floating($0) }
        try promise(float == nil || float == Float(text), "\(text) is \(float ?? .nan).")
        try checkInteger(Int8.self, number, literal, &copy)
        try checkInteger(UInt16.self, number, literal, &copy)
        try checkInteger(Int64.self, number, literal, &copy)
        try checkInteger(UInt64.self, number, literal, &copy)
        try checkInteger(Int128.self, number, literal, &copy)
    }

    private static func checkInteger<Integer: FixedWidthInteger>(
        _ type: Integer.Type,
        _ number: JSONNumber?,
        _ literal: NumberLiteral,
        _ text: inout String
    ) throws {
        let integer: Integer? = text.withUTF8 { literal.integer($0) }
        if let plain = Integer(text) { try promise(integer == plain, "\(text) is no \(type).") }
        guard let number else { return }
        try promise(integer == number.exactly(type), "\(text) is two different numbers of \(type).")
        if let integer {
            try promise(number.truncated(to: type) == integer, "\(text) without its fraction is another.")
        }
    }

    /// Parses a path, and JSON in the next lines. The path survives writing and reading, and selects the same value in parsed
    /// JSON and in text.
    static let jsonPath = FuzzTarget("json-path") { bytes in
        var input = FuzzInput(bytes)
        let text = input.line()
        let path = JSONPath(text)
        try promise(JSONPath(path.description) == path, "\(path) is read as another.")
        let keys = JSONPath([.key(text), .index(text.utf8.count), .key(text), .key("\"]"), .key("a")])
        try promise(JSONPath(keys.description) == keys, "\(keys) is read as another.")
        guard let document = try? JSONDocument(input.data) else { return }
        let json = JSON(document, document.root)
        let found = try? json.find(path)
        let node = try? document.find(path)
        try promise(found == node.map { JSON(document, $0) }, "It leads to two places.")
        try promise(
            json.contains(path) == (found != nil) && json[path: path] == (found ?? .null),
            "It is there and is not."
        )
        if let node {
            try promise(try JSON(parsing: document.bytes(of: node)) == found, "Its bytes are another value.")
        }
    }

    /// Decodes JSON. If Foundation's decoder accepts it for a model, the lenient decoder gives the same model.
    static let lenient = FuzzTarget("lenient") { bytes in
        let data = Data(bytes)
        guard ReferenceJSON.isValid(Array(bytes)) else {
            // Foundation ignores an invalid number in a member that no property decodes.
            let model = try? LenientJSONDecoder(missingValues: .neutral).decode(LenientModel.self, from: data)
            return try promise(model == nil, "A model is made of what is no JSON.")
        }
        // Foundation decodes 1e-400 as the integer 0.
        if zip(data, data.dropFirst()).contains(where: { $0 | 0x20 == 0x65 && $1 == 0x2D }) { return }
        let strict = try? JSONDecoder().decode(LenientModel.self, from: data)
        let lenient = try? LenientJSONDecoder().decode(LenientModel.self, from: data)
        if let strict { try promise(lenient == strict, "It is another model.") }
        let neutral = try? LenientJSONDecoder(missingValues: .neutral, keyDecodingStrategy: .convertFromSnakeCase)
            .decode(LenientModel.self, from: data)
        try promise(
            neutral != nil || lenient == nil || data.contains(UInt8(ascii: "_")),
            "A neutral value is an obstacle."
        )
        if let array = try? JSONDecoder().decode([LenientModel].self, from: data) {
            try promise(
                (try? LenientJSONDecoder().decode([LenientModel].self, from: data)) == array,
                "They are others."
            )
        }
    }
}

/// A model with most of the supported types.
private struct LenientModel: Codable, Equatable {
    struct Nested: Codable, Equatable {
        var id: UInt8
        var tags: [String]?
    }

    enum Kind: String, Codable { case a, b }

    var i: Int?
    var u: UInt64?
    var d: Double?
    var f: Float?
    var s: String?
    var b: Bool?
    var k: Kind?
    var t: Date?
    var x: Data?
    var n: Nested?
    var l: [Nested]?
    var m: [String: Int8]?
    var c: Decimal?
}
