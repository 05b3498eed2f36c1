#if os(Linux)
import CCurl
import SluiceHTTP
import Testing

@testable import SluiceCurl

@Suite struct HeaderListTests {
    private static func lines(_ list: HeaderList) -> [String] {
        var lines: [String] = []
        var node = list.head
        while let current = node {
            lines.append(String(cString: current.pointee.data))
            node = current.pointee.next
        }
        return lines
    }

    private static func lines(_ headers: HTTPHeaders, suppressing suppressed: [StaticString] = []) -> [String] {
        let list = HeaderList()
        list.set(headers, suppressing: suppressed)
        return lines(list)
    }

    @Test(
        arguments: [
            ([:], []), (["A": "1", "b": "2", "A": "3"], ["A: 1", "b: 2", "A: 3"]), (["A": "x: y;z"], ["A: x: y;z"]),
            (["A": "ü"], ["A: ü"]),
            // libcurl takes `A:` for an order to leave the field out, and `A;` for an empty value.
            (["A": "", "B": " ", "C": "\t \u{B}", "D": "1"], ["A;", "B;", "C;", "D: 1"]),
            (["Content-Length": "5", "A": "1"], ["A: 1"]), (["A": "1", "transfer-ENCODING": "chunked"], ["A: 1"]),
            (["content-length": ""], []), (["Content-Length-X": "1"], ["Content-Length-X: 1"]),
            (["X-Content-Length": "1"], ["X-Content-Length: 1"]),
        ] as [(HTTPHeaders, [String])]
    )
    func fieldsBecomeLinesWithoutFraming(headers: HTTPHeaders, lines: [String]) {
        #expect(Self.lines(headers) == lines)
    }

    @Test func suppressedFieldsComeLastWithNothingBehindTheColon() {
        #expect(
            Self.lines(["A": "1"], suppressing: ["Expect", "Content-Type"]) == ["A: 1", "Expect:", "Content-Type:"]
        )
        #expect(Self.lines([:], suppressing: ["Expect"]) == ["Expect:"])
    }

    @Test func aListWithoutLinesHasNoHead() {
        let list = HeaderList()
        #expect(list.head == nil)
        list.set(["Content-Length": "1"], suppressing: [])
        #expect(list.head == nil)
    }

    @Test(arguments: [1, 15, 16, 17, 100, 1000])
    func aListGrowsToAnyNumberOfFields(count: Int) {
        let headers = HTTPHeaders((0..<count).map { (HTTPHeaderName("X-\($0)"), "value \($0)") })
        let expected = (0..<count).map { "X-\($0): value \($0)" } + ["Expect:"]
        #expect(Self.lines(headers, suppressing: ["Expect"]) == expected)
    }

    @Test(arguments: [900, 1019, 1020, 1021, 1024, 100_000])
    func aListGrowsToAnyLengthOfAValue(length: Int) {
        let value = String(repeating: "x", count: length)
        #expect(Self.lines(["A": value, "B": "1"]) == ["A: \(value)", "B: 1"])
    }

    @Test func aListUsedAgainLiesWhereItLay() throws {
        let list = HeaderList()
        list.set(["A": "1"], suppressing: ["Expect"])
        let first = try #require(list.head)
        let (node, text) = (first, first.pointee.data)
        list.set(["B": "2"], suppressing: ["Expect"])
        #expect(list.head == node)
        #expect(list.head?.pointee.data == text)
    }

    @Test func aListUsedAgainHoldsNothingOfBefore() {
        let list = HeaderList()
        list.set(HTTPHeaders((0..<50).map { (HTTPHeaderName("X-\($0)"), "long value") }), suppressing: ["Expect"])
        list.set(["A": "1", "B": ""], suppressing: [])
        #expect(Self.lines(list) == ["A: 1", "B;"])
        list.set([:], suppressing: [])
        #expect(Self.lines(list).isEmpty)
        list.set(["C": "2"], suppressing: ["Expect"])
        #expect(Self.lines(list) == ["C: 2", "Expect:"])
    }
}
#endif
