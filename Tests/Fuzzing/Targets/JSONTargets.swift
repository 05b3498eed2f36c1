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
            try require(!isValid, "Valid JSON is rejected: \(error)")
            try require((0...data.count).contains(error.offset) && error.line > 0 && error.column > 0, "\(error)")
            return
        }
        try require(isValid, "Invalid JSON is accepted.")
        try checkRoundTrip(of: json)
        let text = String(decoding: data, as: UTF8.self)
        try require((try? JSON(parsing: text)) == json, "Parsing a string gives another value.")
        let node = try JSONNode(parsing: data)
        try require(try JSONNode(parsing: node.compact) == node, "A compact node does not round-trip.")
        let pretty = Data(node.text(indentedBy: 0).utf8)
        try require(try JSONNode(parsing: pretty) == node, "A pretty node does not round-trip.")
        try require(try JSON(parsing: node.compact) == json, "A compact node has another value.")
        if let layout = JSONLayout.text(text, limit: .max) {
            try require(try JSON(parsing: layout) == json, "The layout has another value.")
        }
        try checkAgainstFoundation(data, json)
    }

    private static func checkRoundTrip(of json: JSON) throws {
        let compact = json.encoded()
        let again = try JSON(parsing: compact)
        try require(again == json && again.hashValue == json.hashValue, "A value does not round-trip.")
        try require(again.encoded() == compact, "Encoding is not stable.")
        try require(try JSON(parsing: json.encoded(.pretty)) == json, "A pretty value does not round-trip.")
    }

    /// Checks that Foundation accepts the same texts and reads the same strings.
    private static func checkAgainstFoundation(_ data: Data, _ json: JSON) throws {
        // Foundation guesses the encoding from zeros and byte order marks, and rejects numbers beyond Double.
        let hasExponent = zip(data, data.dropFirst()).contains { (0x30...0x39).contains($0) && $1 | 0x20 == 0x65 }
        if data.contains(0) || data.starts(with: [0xEF, 0xBB, 0xBF]) || hasExponent || data.count > 256 { return }
        let value = try? JSONSerialization.jsonObject(with: data, options: .fragmentsAllowed)
        guard let value else { throw InvariantViolation(description: "Foundation rejects the JSON.") }
        switch json {
        case .string(let text):
            // Foundation drops a byte order mark at the start of a string. RFC 8259 §7 treats it like any character.
            let isMarked = text.unicodeScalars.first == "\u{FEFF}"
            let expected = isMarked ? String(text.unicodeScalars.dropFirst()) : text
            try require(
                (value as? String) == expected || (value as? String) == text,
                "Foundation reads another string."
            )
        case .array(let elements):
            try require((value as? [Any])?.count == elements.count, "Foundation reads another number of elements.")
        case .object(let members):
            try require(
                (value as? [String: Any]).map { Set($0.keys) } == Set(members.keys),
                "Foundation reads other member names."
            )
        default: break
        }
    }

    /// Parses a JSON number a line, at most two. All number readers of Sluice agree, also with those of Swift.
    static let jsonNumber = FuzzTarget("json-number") { bytes in
        var input = FuzzInput(bytes)
        let texts = [input.line(), input.line()]
        for text in texts { try check(text) }
        guard let left = JSONNumber(texts[0]), let right = JSONNumber(texts[1]) else { return }
        try require((left == right) == (right == left), "Equality is not symmetric.")
        try require(left != right || left.hashValue == right.hashValue, "Equal numbers have different hashes.")
        if let first = left.exactly(Int128.self), let second = right.exactly(Int128.self) {
            try require((left == right) == (first == second), "\(left) and \(right) are compared wrongly.")
        }
    }

    private static func check(_ text: String) throws {
        let number = JSONNumber(text)
        let isNumber = text.utf8.first.map { $0 == 0x2D || (0x30...0x39).contains($0) } ?? false
        let isWhole = text.utf8.last.map { (0x30...0x39).contains($0) } ?? false
        let parsed = isNumber && isWhole ? (try? JSON(parsing: text)) : nil
        if case .number(let read)? = parsed {
            try require(read.text == text && number == read, "\(text) is read as \(read).")
        } else {
            try require(number == nil, "\(text) is accepted as a number but not as JSON.")
        }
        var copy = text
        let literal = copy.withUTF8 { NumberLiteral($0) }
        try require(number == nil || literal != nil, "\(text) is a number but not a literal.")
        guard let literal else { return }
        let double: Double? = copy.withUTF8 { literal.floating($0) }
        try require(double == nil || double == Double(text), "\(text) is read as \(double ?? .nan).")
        let float: Float? = copy.withUTF8 { literal.floating($0) }
        try require(float == nil || float == Float(text), "\(text) is read as \(float ?? .nan).")
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
        if let plain = Integer(text) { try require(integer == plain, "\(text) is not read as \(type).") }
        guard let number else { return }
        try require(integer == number.exactly(type), "The readers of \(type) disagree on \(text).")
        if let integer {
            try require(number.truncated(to: type) == integer, "Truncating \(text) changes its integer.")
        }
    }

    /// Parses a path, and JSON in the next lines. The path survives writing and reading, and selects the same value in parsed
    /// JSON and in text.
    static let jsonPath = FuzzTarget("json-path") { bytes in
        var input = FuzzInput(bytes)
        let text = input.line()
        let path = JSONPath(text)
        try require(JSONPath(path.description) == path, "\(path) does not round-trip.")
        let keys = JSONPath([.key(text), .index(text.utf8.count), .key(text), .key("\"]"), .key("a")])
        try require(JSONPath(keys.description) == keys, "\(keys) does not round-trip.")
        guard let document = try? JSONDocument(input.data) else { return }
        let json = JSON(document, document.root)
        let found = try? json.find(path)
        let node = try? document.find(path)
        try require(found == node.map { JSON(document, $0) }, "The value and the document find different values.")
        try require(
            json.contains(path) == (found != nil) && json[path: path] == (found ?? .null),
            "contains(), find() and the subscript disagree."
        )
        if let node {
            try require(
                try JSON(parsing: document.bytes(of: node)) == found,
                "The bytes of the node have another value."
            )
        }
    }

    /// Decodes JSON. If Foundation's decoder accepts it for a model, the lenient decoder gives the same model.
    static let lenient = FuzzTarget("lenient") { bytes in
        let data = Data(bytes)
        guard ReferenceJSON.isValid(Array(bytes)) else {
            // Foundation ignores an invalid number in a member that no property decodes.
            let model = try? LenientJSONDecoder(fillsMissingValues: true).decode(LenientModel.self, from: data)
            return try require(model == nil, "Invalid JSON is decoded.")
        }
        // Foundation decodes 1e-400 as the integer 0.
        if zip(data, data.dropFirst()).contains(where: { $0 | 0x20 == 0x65 && $1 == 0x2D }) { return }
        let strict = try? JSONDecoder().decode(LenientModel.self, from: data)
        let lenient = try? LenientJSONDecoder().decode(LenientModel.self, from: data)
        if let strict { try require(lenient == strict, "The lenient decoder gives another model.") }
        let neutral = try? LenientJSONDecoder(fillsMissingValues: true, keyDecodingStrategy: .convertFromSnakeCase)
            .decode(LenientModel.self, from: data)
        try require(
            neutral != nil || lenient == nil || data.contains(UInt8(ascii: "_")),
            "Neutral values make decoding fail."
        )
        if let array = try? JSONDecoder().decode([LenientModel].self, from: data) {
            try require(
                (try? LenientJSONDecoder().decode([LenientModel].self, from: data)) == array,
                "The lenient decoder gives other models."
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
