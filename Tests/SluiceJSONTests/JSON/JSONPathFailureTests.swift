import Foundation
import Testing

@testable import SluiceJSON

@Suite struct JSONPathFailureTests {
    static let text = """
        {"data": {"items": [{"id": 1}, {"id": 2}], "one": [0], "none": [], "name": "secret", "nil": null, "1": "n"},
         "flag": true, "a.b": {"": 5}}
        """

    @Test(arguments: [
        ("data.items[0].id", "1"), ("data>items>1>id", "2"), ("data.items[-1]", #"{"id": 2}"#), ("data.1", #""n""#),
        (#"["a.b"]"#, #"{"": 5}"#), (#"["a.b"][""]"#, "5"), ("data.nil", "null"), ("flag", "true"),
        ("data.name", #""secret""#),
        ("", text),
    ])
    func findsSameValueInDocumentAndJSON(path: String, slice: String) throws {
        let document = try JSONDocument(Self.text)
        #expect(try document.slice(at: JSONPath(path)) == Data(slice.utf8))
        let json = try JSON(parsing: Self.text)
        #expect(try json.find(JSONPath(path)) == JSON(parsing: slice))
        #expect(json[path: JSONPath(path)] == JSON(document, try document.find(JSONPath(path))))
    }

    @Test(arguments: [
        ("data.items[5]", "`data.items` has 2 elements; there is no element [5]."),
        ("data.items.5.x", "`data.items` has 2 elements; there is no element [5]."),
        ("data.items[-3]", "`data.items` has 2 elements; there is no element [-3]."),
        (
            "data.items[-9223372036854775808]",
            "`data.items` has 2 elements; there is no element [-9223372036854775808]."
        ),
        ("data.one[1]", "`data.one` has 1 element; there is no element [1]."),
        ("data.none[0]", "`data.none` has no elements; there is no element [0]."),
        ("data.items.x", "`data.items` is an array and has no member `x`."),
        ("data.items.99999999999999999999", "`data.items` is an array and has no member `99999999999999999999`."),
        ("data.missing.x", "`data` has no member `missing`."),
        ("data[0]", "`data` is an object and has no element [0]."),
        ("data.name.items", "`data.name` is a string and has no member `items`."),
        ("data.nil[0]", "`data.nil` is null and has no element [0]."),
        ("flag.x", "`flag` is a boolean and has no member `x`."),
        ("data.items[0].id[0]", "`data.items[0].id` is a number and has no element [0]."),
        (#"["a.b"].c"#, #"`["a.b"]` has no member `c`."#),
        ("missing", "The value has no member `missing`."),
        (
            "data.items[0",
            #"`data` has no member `items[0`, whose bracket is part of the key: write [0] for an element, or ["key"]."#
        ),
        ("[0]", "The value is an object and has no element [0]."),
    ])
    func failureDescribesLastFoundElement(path: String, sentence: String) throws {
        let path = JSONPath(path)
        let json = try JSON(parsing: Self.text)
        let document = try JSONDocument(Self.text)
        let failure = try #require(throws: JSONPathFailure.self) { try json.find(path) }
        #expect(failure.description == sentence)
        #expect(failure.path == path)
        #expect(throws: failure) { try document.find(path) }
        #expect(throws: failure) { try document.slice(at: path) }
        #expect(json[path: path] == .null)
        #expect(!json.contains(path))
    }

    @Test func failureHasReachedPathKindAndCount() throws {
        let json = try JSON(parsing: Self.text)
        let failure = #expect(throws: JSONPathFailure.self) { try json.find("data.items[2].id") }
        #expect(failure?.reached == "data.items")
        #expect(failure?.found == .array)
        #expect(failure?.count == 2)
    }

    @Test func decodesSliceWithJSONDecoder() throws {
        struct Item: Decodable, Equatable { let id: Int }
        let document = try JSONDocument(Data(Self.text.utf8))
        let items = try JSONDecoder().decode([Item].self, from: document.slice(at: "data.items"))
        #expect(items == [Item(id: 1), Item(id: 2)])
    }
}
