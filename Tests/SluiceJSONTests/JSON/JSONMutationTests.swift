import Sluice
import Testing

@Suite struct JSONMutationTests {
    @Test func setsMembersByKeyAndName() {
        var json: JSON = ["user": ["name": "Ada"]]
        json["user"]["name"] = "Grace"
        json.user.age = 36
        json["user"]["tags"] = ["a"]
        json.user.tags[1] = "b"
        #expect(json == ["user": ["name": "Grace", "age": 36, "tags": ["a", "b"]]])
    }

    @Test func settingMemberOfNullCreatesObject() {
        var json = JSON.null
        json["a"]["b"].c = true
        json["d"]["e"] = 1
        json["list"][0]["x"] = "first"
        #expect(json == ["a": ["b": ["c": true]], "d": ["e": 1], "list": [["x": "first"]]])
    }

    @Test func newValueIsNull() {
        var (member, element) = (JSON(), JSON())
        #expect(member == .null && member.isNull)
        member["a"] = 1
        element[0] = 1
        #expect(member == ["a": 1] && element == [1])
    }

    @Test func settingNilSetsNull() {
        var json: JSON = ["a": 1]
        json["a"] = nil
        json.b = nil
        #expect(json == ["a": nil, "b": nil])
    }

    @Test func replacesAndAppendsElements() {
        var json: JSON = [1, 2]
        json[0] = "one"
        json[2] = 3
        #expect(json == ["one", 2, 3])
        var list = JSON.null
        list[0]["id"] = 1
        #expect(list == [["id": 1]])
    }

    @Test func settingInvalidPlaceHasNoEffect() {
        let original: JSON = ["text": "a", "list": [1], "number": 1, "bool": true]
        var json = original
        json["text"]["x"] = 1
        json.number.x.y = 1
        json["bool"][0] = 1
        json["list"][2] = 1
        json["list"][-1] = 1
        json["list"][.max] = 1
        json["list"][.min].x = 1
        json["list"]["x"] = 1
        json["text"][0]["x"] = 1
        json[0] = 1
        #expect(json == original)
        var null = JSON.null
        null[1] = 1
        null[-1].x = 1
        #expect(null == .null)
    }

    @Test func accessInPlaceCreatesNothing() {
        func access(_ json: inout JSON) {}
        var json: JSON = ["empty": [:], "list": []]
        access(&json["none"])
        access(&json["empty"]["none"])
        access(&json["list"][0])
        json.none.deeper.removeValue(forKey: "x")
        #expect(json == ["empty": [:], "list": []])
        var null = JSON.null
        access(&null["a"]["b"])
        access(&null[0])
        #expect(null == .null)
    }

    @Test func changesNestedMembersWithoutACopy() {
        func place(_ json: JSON) -> UInt? {
            switch json {
            case .array(let elements): unsafeBitCast(elements, to: UInt.self)
            case .object(let members): unsafeBitCast(members, to: UInt.self)
            default: nil
            }
        }
        var json: JSON = ["list": [1, 2, 3], "members": ["a": 1]]
        let (list, members) = (place(json.list), place(json.members))
        #expect(list != nil && members != nil)
        json["list"][1] = 4
        #expect(place(json.list) == list)
        json.list[2] = 5
        #expect(place(json.list) == list)
        json["members"]["a"] = 2
        #expect(place(json.members) == members)
        json.members.a = 3
        #expect(place(json.members) == members)
    }

    @Test func removesMembers() {
        var json: JSON = ["a": 1, "b": ["c": nil]]
        #expect(json.removeValue(forKey: "a") == 1)
        #expect(json.removeValue(forKey: "a") == nil)
        #expect(json.b.removeValue(forKey: "c") == .some(.null))
        #expect(json == ["b": [:]])
        var text: JSON = "text"
        #expect(text.removeValue(forKey: "a") == nil)
        #expect(text == "text")
    }

    @Test func failedMutationKeepsValue() {
        struct Failure: Error {}
        func fail(_ json: inout JSON) throws { throw Failure() }
        var json: JSON = ["a": [1, 2], "b": 3]
        #expect(throws: Failure.self) { try fail(&json["a"][0]) }
        #expect(throws: Failure.self) { try fail(&json.b) }
        #expect(throws: Failure.self) { try fail(&json.none) }
        #expect(json == ["a": [1, 2], "b": 3])
    }

    @Test func mutationDoesNotChangeCopy() {
        let original: JSON = ["list": [["id": 1]]]
        var copy = original
        copy.list[0].id = 2
        #expect(original.list[0].id == 1)
        #expect(copy.list[0].id == 2)
    }
}
