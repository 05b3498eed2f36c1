import SluiceHTTP
import SluiceTesting
import Testing

@Suite struct HTTPHeadersEditingTests {
    private let headers: HTTPHeaders = ["A": "1", "B": "2", "a": "3", "C": "4"]

    private static func lines(_ headers: HTTPHeaders) -> [String] {
        headers.map { "\($0.name): \($0.value)" }
    }

    @Test(arguments: [
        ("a", "9", ["a: 9", "B: 2", "C: 4"]),
        ("c", "9", ["A: 1", "B: 2", "a: 3", "c: 9"]),
        ("b", "", ["A: 1", "b: ", "a: 3", "C: 4"]),
        ("D", "9", ["A: 1", "B: 2", "a: 3", "C: 4", "D: 9"]),
        ("A", nil, ["B: 2", "C: 4"]),
        ("D", nil, ["A: 1", "B: 2", "a: 3", "C: 4"]),
    ])
    func settingReplacesAllFieldsAtTheFirstPosition(name: String, value: String?, lines: [String]) {
        var headers = headers
        headers[HTTPHeaderName(name)] = value
        #expect(Self.lines(headers) == lines)
    }

    @Test func appendingKeepsFieldsOfTheSameName() {
        var headers = headers
        headers.append("A", "5")
        #expect(headers.values(for: "a") == ["1", "3", "5"])
    }

    @Test func appendingASectionKeepsBothOrders() {
        var headers = headers
        headers.append(contentsOf: ["B": "5", "E": ""])
        #expect(Self.lines(headers) == ["A: 1", "B: 2", "a: 3", "C: 4", "B: 5", "E: "])
        headers.append(contentsOf: HTTPHeaders())
        #expect(headers.count == 6)
        var empty = HTTPHeaders()
        empty.append(contentsOf: headers)
        #expect(empty == headers)
    }

    @Test func changingACopyDoesNotChangeTheOriginal() {
        var copy = headers
        copy["A"] = "changed"
        #expect(headers.values(for: "A") == ["1", "3"])
    }

    @Test func removingTheOnlyFieldLeavesAnEmptySection() {
        var headers: HTTPHeaders = ["A": "1"]
        headers.remove("a")
        #expect(headers == [:])
        #expect(headers.byteCount == 0)
    }

    @Test(.timeLimit(.minutes(1))) func anyNumberOfFieldsIsRemoved() {
        var headers = HTTPHeaders()
        for number in 0..<60_000 { headers.append(number % 3 == 0 ? "B" : "A", value: FieldValue("\(number)")) }
        headers.append("C", "last")
        headers.remove("a")
        #expect(headers.count == 20_001)
        #expect(headers["C"] == "last" && headers["A"] == nil)
        #expect(headers.values(for: "b").first == "0" && headers.values(for: "B").last == "59997")
    }

    /// A sequence of edits has the same result as on an array of pairs.
    @Test(arguments: 0..<20 as Range<UInt64>)
    func randomEditsEqualThoseOfAnArray(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let names = ["A", "a", "Bb", "bB", "Ccc", "X-Long-Name"]
        let values = ["", "1", "two", "ü, ß", String(repeating: "x", count: 300)]
        var headers = HTTPHeaders()
        var model: [(name: String, value: String)] = []
        for _ in 0..<200 {
            let name = try #require(names.randomElement(using: &random))
            let value = try #require(values.randomElement(using: &random))
            let isSame = { (field: (name: String, value: String)) in field.name.lowercased() == name.lowercased() }
            switch Int.random(in: 0..<10, using: &random) {
            case 0..<5:
                headers.append(HTTPHeaderName(name), value)
                model.append((name, value))
            case 5, 6:
                headers[HTTPHeaderName(name)] = value
                let place = model.firstIndex(where: isSame) ?? model.endIndex
                model.removeAll(where: isSame)
                model.insert((name, value), at: place)
            case 7:
                headers.remove(HTTPHeaderName(name))
                model.removeAll(where: isSame)
            case 8:
                headers[HTTPHeaderName(name)] = nil
                model.removeAll(where: isSame)
            default:
                headers.append(contentsOf: [HTTPHeaderName(name): value, "A": "end"])
                model += [(name, value), ("A", "end")]
            }
            #expect(Self.lines(headers) == model.map { "\($0.name): \($0.value)" })
            #expect(headers.values(for: HTTPHeaderName(name)) == model.filter(isSame).map(\.value))
            #expect(headers.byteCount == model.reduce(0) { $0 + $1.name.utf8.count + $1.value.utf8.count + 4 })
        }
    }
}
