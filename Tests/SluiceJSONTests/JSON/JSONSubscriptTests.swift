import Sluice
import Testing

@Suite struct JSONSubscriptTests {
    static let json: JSON = [
        "user": ["name": "Ada", "tags": ["a", "b"], "email": nil],
        "items": [["id": 1], ["id": 2]],
        "0": "zero",
        "count": 7, "description": "text", "value": 8, "string": 9,
    ]

    @Test func findsValuesByKeyIndexNameAndPath() {
        let json = Self.json
        #expect(json["user"]["name"] == "Ada")
        #expect(json.user.name == "Ada")
        #expect(json[path: "user.name"] == "Ada")
        #expect(json["items"][1]["id"] == 2)
        #expect(json.items[1].id == 2)
        #expect(json[path: "items[1].id"] == 2)
        let (key, index) = ("items", 1)
        #expect(json[key][index]["id"] == 2)
        #expect(json["0"] == "zero")
    }

    @Test(arguments: [
        json["none"], json.none, json.user.name.first, json.user[0], json.items["id"], json.items[2], json.items[-1],
        json.items[.max], json.items[.min], json["items"][5]["id"], json["items"][-1], json.none[3].deeper["x"],
        json[path: "items[2]"], json[path: "user.name.x"], JSON.null.anything[0],
    ])
    func returnsNullForMissingValues(value: JSON) {
        #expect(value.isNull)
    }

    @Test func containsDistinguishesNullFromMissing() {
        #expect(Self.json.contains("user.email"))
        #expect(Self.json.contains("items[-2].id"))
        #expect(Self.json.contains(""))
        #expect(!Self.json.contains("user.phone"))
        #expect(!Self.json.contains("items[-3]"))
        #expect(!Self.json.contains("user.email.x"))
    }

    @Test func propertiesTakePrecedenceOverKeys() {
        let json = Self.json
        #expect(json.count == 7)  // It has seven members.
        #expect(json["count"] == 7)
        #expect(json.user.count == 3)
        #expect(json.string == nil)
        #expect(json["string"] == 9)
        #expect(json.description.hasPrefix("{"))
        #expect(json["description"] == "text")
        #expect(json["value"] == 8)
    }

    @Test func commonKeysAreAvailableAsNames() {
        let json: JSON = [
            "null": 1, "number": 2, "object": 3, "data": ["items": [4]], "text": 5, "url": 6, "path": 7, "keys": 8,
            "values": 9, "index": 10, "first": 11, "kind": 12, "isEmpty": 13, "json": 14, "name": 15, "search": 16,
        ]
        #expect(json.null == 1)
        #expect(json.number == 2)
        #expect(json.object == 3)
        #expect(json.data.items[0] == 4)
        #expect(json.text == 5)
        #expect(json.url == 6)
        #expect(json.path == 7)
        #expect(json.keys == 8)
        #expect(json.values == 9)
        #expect(json.index == 10)
        #expect(json.first == 11)
        #expect(json.kind == 12)
        #expect(json.isEmpty == 13)
        #expect(json.json == 14)
        #expect(json.name == 15)
        #expect(json.search == 16)
    }

    @Test func emptyPathReturnsValue() {
        #expect(Self.json[path: ""] == Self.json)
    }
}
