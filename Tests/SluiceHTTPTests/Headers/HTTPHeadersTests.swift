import SluiceHTTP
import Testing

@Suite struct HTTPHeadersTests {
    private let headers: HTTPHeaders = ["B": "1", "a": "2", "C": "", "A": "3", "b": "4, 5"]

    @Test func fieldsKeepTheirOrderAndSpelling() {
        #expect(headers.map(\.name.rawValue) == ["B", "a", "C", "A", "b"])
        #expect(headers.map(\.value) == ["1", "2", "", "3", "4, 5"])
    }

    @Test(arguments: [("a", "2, 3"), ("A", "2, 3"), ("b", "1, 4, 5"), ("c", ""), ("D", nil), ("", nil), ("aa", nil)])
    func subscriptJoinsTheValuesOfANameInAnyCase(name: String, value: String?) {
        #expect(headers[HTTPHeaderName(name)] == value)
        #expect(headers.contains(HTTPHeaderName(name)) == (value != nil))
    }

    @Test(arguments: [("A", ["2", "3"]), ("b", ["1", "4, 5"]), ("C", [""]), ("D", [])])
    func valuesAreListedInOrder(name: String, values: [String]) {
        #expect(headers.values(for: HTTPHeaderName(name)) == values)
    }

    @Test func emptyValueDiffersFromAMissingField() {
        #expect(HTTPHeaders().isEmpty)
        #expect(HTTPHeaders() == [:])
        #expect(HTTPHeaders().byteCount == 0)
        #expect(headers.count == 5)
        #expect(headers["C"] == "")
    }

    @Test func byteCountIsTheSizeOnTheWire() {
        #expect(headers.byteCount == "B: 1\r\na: 2\r\nC: \r\nA: 3\r\nb: 4, 5\r\n".utf8.count)
        #expect(HTTPHeaders([("Ü", "é")]).byteCount == "Ü: é\r\n".utf8.count)
    }

    @Test func valueOfAMegabyteIsPreserved() {
        let long = String(repeating: "0123456789", count: 100_000)
        let headers: HTTPHeaders = ["Before": "1", "Long": long, "After": "2"]
        #expect(headers["long"] == long)
        #expect(headers["after"] == "2")
    }

    @Test func thousandFieldsAreAllFound() {
        let headers = HTTPHeaders((0..<1000).map { (HTTPHeaderName("X-\($0)"), "\($0)") })
        #expect((0..<1000).allSatisfy { headers[HTTPHeaderName("x-\($0)")] == "\($0)" })
    }

    @Test func descriptionHasTheNamesWithoutValues() {
        let headers: HTTPHeaders = ["Authorization": "Bearer secret", "Cookie": "id=secret"]
        #expect("\(headers)" == "[Authorization, Cookie]")
    }

    @Test(
        arguments: [
            (["A": "1", "B": "2"], ["a": "1", "b": "2"], true),
            (["A": "1", "B": "2"], ["B": "2", "A": "1"], false),
            (["A": "x"], ["A": "X"], false),
            (["A": "1"], ["A": "1", "A": "1"], false),
            (["A": "1, 2"], ["A": "1", "A": "2"], false),
            (["A": ""], [:], false),
            (["AB": "c"], ["A": "Bc"], false),
        ] as [(HTTPHeaders, HTTPHeaders, Bool)]
    )
    func sectionsAreEqualIfFieldsAndOrderAre(one: HTTPHeaders, other: HTTPHeaders, areEqual: Bool) {
        #expect((one == other) == areEqual)
        #expect((one.hashValue == other.hashValue) == areEqual)
    }

    @Test func indicesAreThoseOfACollection() {
        #expect(headers.startIndex == 0)
        #expect(headers.endIndex == 5)
        #expect(headers[3].name == "a")
        #expect(headers[3].value == "3")
        #expect(headers.reversed().map(\.value) == ["4, 5", "3", "", "2", "1"])
    }
}
