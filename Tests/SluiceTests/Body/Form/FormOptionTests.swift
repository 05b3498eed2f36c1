import Foundation
import Sluice
import Testing

@Suite struct FormOptionTests {
    private struct Search: Encodable, Sendable {
        var z = 1
        var a = "x"
        var m = true
    }

    private struct Order: Encodable, Sendable {
        var items = [Item(id: 1, tags: ["a", "b"]), Item(id: 2, tags: [])]

        struct Item: Encodable, Sendable {
            var id: Int
            var tags: [String]
        }
    }

    private struct Keyed: Encodable, Sendable {
        var baseURLPath = 1
    }

    private struct Gaps: Encodable, Sendable {
        var text: String?
        var count: Int?
        var list: [Int?] = [1, nil, 3]
        var map: [String: Int?] = ["k": nil]
        var nested: Search?
        var here: Int? = 7
    }

    private static let noon = Date(timeIntervalSince1970: 978_350_400.25)
    private static let bytes = Data([0xFB, 0xFF, 0x00])
    private static let day = JSONEncoder.DateEncodingStrategy.custom { date, encoder in
        try date.formatted(.iso8601.year().month().day()).encode(to: encoder)
    }
    private struct Refused: Error {}

    @Test(arguments: [
        FormExample(Search(), is: "a=x&m=1&z=1"),
        FormExample(Search(), .init(sortsKeys: true), is: "a=x&m=1&z=1"),
        FormExample(Search(), .init(sortsKeys: false), is: "z=1&a=x&m=1"),
        FormExample(["b": ["y": 1, "x": 2], "a": ["z": 3], "B": [:]], is: "a[z]=3&b[x]=2&b[y]=1"),
        FormExample(["é": 1, "z": 2, "e": 3, "Z": 4, "10": 5, "9": 6], is: "10=5&9=6&Z=4&e=3&z=2&%C3%A9=1"),
        FormExample(["\u{E9}[": 2, "e\u{301}": 1], is: "e%CC%81=1&%C3%A9[=2"),
        FormExample(["list": [3, 1, 2]], is: "list[]=3&list[]=1&list[]=2"),
    ])
    func fieldsAreSortedOrKeepTheirOrder(_ example: FormExample) throws {
        #expect(try example.encoded() == example.text)
    }

    @Test(arguments: [
        FormExample(["a": [1, 2]], .init(arrayEncoding: .brackets), is: "a[]=1&a[]=2"),
        FormExample(["a": [1, 2]], .init(arrayEncoding: .noBrackets), is: "a=1&a=2"),
        FormExample(["a": [1, 2]], .init(arrayEncoding: .indexInBrackets), is: "a[0]=1&a[1]=2"),
        FormExample(["a": [1, 2]], .init(arrayEncoding: .custom { "\($0)_\($1 + 1)" }), is: "a_1=1&a_2=2"),
        FormExample(["a": [[1], [2, 3]]], is: "a[][]=1&a[][]=2&a[][]=3"),
        FormExample(
            ["a": [[1], [2, 3]]],
            .init(arrayEncoding: .indexInBrackets),
            is: "a[0][0]=1&a[1][0]=2&a[1][1]=3"
        ),
        FormExample(["a": [[1], [2]]], .init(arrayEncoding: .custom { "\($1)<\($0)" }), is: "0%3C0%3Ca=1&0%3C1%3Ca=2"),
        FormExample(
            Order(),
            .init(arrayEncoding: .indexInBrackets),
            is: "items[0][id]=1&items[0][tags][0]=a&items[0][tags][1]=b&items[1][id]=2"
        ),
        FormExample(
            Order(),
            .init(arrayEncoding: .custom { key, index in "\(key)(\(index))" }),
            is: "items%280%29[id]=1&items%280%29[tags]%280%29=a&items%280%29[tags]%281%29=b&items%281%29[id]=2"
        ),
        FormExample(["a": [["b": 1], ["b": 2]]], .init(arrayEncoding: .noBrackets), is: "a[b]=1&a[b]=2"),
    ])
    func arrayEncodingNamesTheElements(_ example: FormExample) throws {
        #expect(try example.encoded() == example.text)
    }

    @Test(arguments: [
        FormExample(["a": ["b": ["c": 1]]], .init(keyPathEncoding: .brackets), is: "a[b][c]=1"),
        FormExample(["a": ["b": ["c": 1]]], .init(keyPathEncoding: .dots), is: "a.b.c=1"),
        FormExample(["a": ["b": ["c": 1]]], .init(keyPathEncoding: .custom { "->\($0)" }), is: "a-%3Eb-%3Ec=1"),
        FormExample(["a": ["b": ["c": 1]]], .init(keyPathEncoding: .custom { _ in "" }), is: "a=1"),
        FormExample(["a": [["b": 1]]], .init(keyPathEncoding: .dots), is: "a[].b=1"),
    ])
    func keyPathEncodingNamesNestedFields(_ example: FormExample) throws {
        #expect(try example.encoded() == example.text)
    }

    @Test(arguments: [
        FormExample(Keyed(), .init(keyEncoding: .useDefaultKeys), is: "baseURLPath=1"),
        FormExample(Keyed(), .init(keyEncoding: .convertToSnakeCase), is: "base_url_path=1"),
        FormExample(Keyed(), .init(keyEncoding: .convertToKebabCase), is: "base-url-path=1"),
        FormExample(Keyed(), .init(keyEncoding: .custom { "x-\($0)" }), is: "x-baseURLPath=1"),
        FormExample(["oneTwo": ["threeFour": 1]], .init(keyEncoding: .convertToSnakeCase), is: "one_two[three_four]=1"),
        FormExample(
            ["aB": 2, "ab": 1] as Parameters,
            .init(keyEncoding: .custom { $0.lowercased() }),
            is: "ab=2&ab=1"
        ),
        FormExample(["a": 1, "B": 2], .init(keyEncoding: .custom { $0.lowercased() }), is: "a=1&b=2"),
    ])
    func keyEncodingConvertsKeys(_ example: FormExample) throws {
        #expect(try example.encoded() == example.text)
    }

    @Test(arguments: [
        ("", ""), ("a", "a"), ("aB", "a_b"), ("A", "a"), ("AB", "ab"), ("URL", "url"), ("userID", "user_id"),
        ("myURLProperty", "my_url_property"), ("page2Size", "page2_size"), ("utf8", "utf8"), ("_private", "_private"),
        ("_Private", "_private"), ("already_snake", "already_snake"), ("mixed_Case", "mixed_case"), ("__", "__"),
        ("größeInM", "größe_in_m"), ("ÄrgerÜber", "ärger_über"), ("aBC", "a_bc"), ("aBCd", "a_b_cd"), ("x-Y", "x-y"),
        ("trailing_", "trailing_"), ("日本Go", "日本_go"),
    ])
    func snakeCaseSplitsWordsAtCapitals(_ key: String, _ name: String) throws {
        let snake: String = try URLEncodedFormEncoder(keyEncoding: .convertToSnakeCase).encode([key: 1])
        #expect(snake.removingPercentEncoding == "\(name)=1")
    }

    @Test(arguments: [
        FormExample(["a": true], .init(boolEncoding: .numeric), is: "a=1"),
        FormExample(["a": false], .init(boolEncoding: .numeric), is: "a=0"),
        FormExample(["a": [true, false]], .init(boolEncoding: .literal), is: "a[]=true&a[]=false"),
        FormExample(["a": bytes], .init(dataEncoding: .base64), is: "a=%2B%2F8A"),
        FormExample(["a": bytes.dropFirst()], .init(dataEncoding: .base64), is: "a=%2FwA%3D"),
        FormExample(["a": bytes], .init(dataEncoding: .deferredToData), is: "a[]=251&a[]=255&a[]=0"),
        FormExample(
            ["a": bytes],
            .init(dataEncoding: .custom { try "\($0.count) bytes".encode(to: $1) }),
            is: "a=3%20bytes"
        ),
        FormExample(["a": noon], is: "a=43200.25"),
        FormExample(["a": noon], .init(dateEncoding: .deferredToDate), is: "a=43200.25"),
        FormExample(["a": noon], .init(dateEncoding: .secondsSince1970), is: "a=978350400.25"),
        FormExample(["a": noon], .init(dateEncoding: .millisecondsSince1970), is: "a=978350400250"),
        FormExample(["a": noon], .init(dateEncoding: .iso8601), is: "a=2001-01-01T12%3A00%3A00Z"),
        FormExample(
            ["a": noon],
            .init(dateEncoding: .custom { try "\($0.timeIntervalSince1970 < 0)".encode(to: $1) }),
            is: "a=false"
        ),
        FormExample(["a": noon], .init(dateEncoding: day), is: "a=2001-01-01"),
        FormExample(
            ["a": noon],
            .init(dateEncoding: .custom { _, encoder in try ["b": 1].encode(to: encoder) }),
            is: "a[b]=1"
        ),
        FormExample(["a": noon, "b": noon], .init(dateEncoding: .custom { _, _ in }), is: ""),
        FormExample(["a": Date(timeIntervalSince1970: 12)], .init(dateEncoding: .secondsSince1970), is: "a=12"),
        FormExample(["a": Date(timeIntervalSince1970: -1.5)], .init(dateEncoding: .secondsSince1970), is: "a=-1.5"),
        FormExample(["a": Date(timeIntervalSince1970: 1e20)], .init(dateEncoding: .secondsSince1970), is: "a=1e%2B20"),
        FormExample(["a": [Date?.some(noon)]], .init(dateEncoding: .iso8601), is: "a[]=2001-01-01T12%3A00%3A00Z"),
        FormExample(["a": Date.distantPast], .init(dateEncoding: .iso8601), is: "a=0001-01-01T00%3A00%3A00Z"),
        FormExample(
            ["a": Date(timeIntervalSince1970: 253_402_300_799.5)],
            .init(dateEncoding: .iso8601),
            is: "a=9999-12-31T23%3A59%3A59Z"
        ),
    ])
    func booleansDataAndDatesAreEncodedByTheirOptions(_ example: FormExample) throws {
        #expect(try example.encoded() == example.text)
    }

    @Test(arguments: [
        FormExample(Gaps(), is: "here=7&list[]=1&list[]=3"),
        FormExample(Gaps(), .init(arrayEncoding: .indexInBrackets), is: "here=7&list[0]=1&list[2]=3"),
        FormExample(
            Gaps(),
            .init(nilEncoding: .dropValue),
            is: "count=&here=7&list[]=1&list[]=&list[]=3&map[k]=&nested=&text="
        ),
        FormExample(
            Gaps(),
            .init(nilEncoding: .null),
            is: "count=null&here=7&list[]=1&list[]=null&list[]=3&map[k]=null&nested=null&text=null"
        ),
        FormExample(
            ["a": Int??.some(.none), "b": .some(.some(1)), "c": .none],
            .init(nilEncoding: .null),
            is: "a=null&b=1&c=null"
        ),
    ])
    func nilEncodingOmitsOrEncodesNil(_ example: FormExample) throws {
        #expect(try example.encoded() == example.text)
    }

    @Test func optionsCanBeSetOneByOne() throws {
        var encoder = URLEncodedFormEncoder()
        encoder.boolEncoding = .literal
        encoder.spaceEncoding = .plusReplaced
        encoder.allowedCharacters = .unreserved.adding("[]")
        let text: String = try encoder.encode(["a b": [true]])
        #expect(text == "a+b[]=true")
    }

    @Test func errorsOfCustomEncodingsContainThePathOfTheField() {
        let encoder = URLEncodedFormEncoder(
            dataEncoding: .custom { _, _ in throw Refused() },
            dateEncoding: .custom { _, _ in throw Refused() }
        )
        for value in [["a": [Parameters(["b": Self.noon])]], ["a": [["b": Self.bytes] as Parameters]]] {
            let failure = #expect(throws: FormEncodingFailure.self) { try encoder.encode(value) as String }
            #expect(failure?.codingPath == "a[0].b")
            #expect(failure?.cause is Refused)
        }
    }
}
