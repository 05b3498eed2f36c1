import Foundation
import Testing

@testable import SluiceJSON

@Suite struct LenientContainerTests {
    private func decode<Value: Decodable>(_ type: Value.Type, _ text: String) throws -> Value {
        try LenientJSONDecoder().decode(type, from: Data(text.utf8))
    }

    @Test func nestedContainersConvert() throws {
        struct Model: Decodable {
            var city: String
            var numbers: [Int] = []
            enum Key: CodingKey { case place, city, lists }
            init(from decoder: any Decoder) throws {
                let container = try decoder.container(keyedBy: Key.self)
                let place = try container.nestedContainer(keyedBy: Key.self, forKey: .place)
                city = try place.decode(String.self, forKey: .city)
                #expect(place.codingPath.map(\.stringValue) == ["place"])
                var lists = try container.nestedUnkeyedContainer(forKey: .lists)
                while !lists.isAtEnd {
                    var list = try lists.nestedUnkeyedContainer()
                    #expect(list.codingPath.map(\.stringValue) == ["lists", "Index \(lists.currentIndex - 1)"])
                    while !list.isAtEnd { numbers.append(try list.decode(Int.self)) }
                }
            }
        }
        let model = try decode(Model.self, #"{"place":"{\"city\":12}","lists":[["1",2],"[true]",[]]}"#)
        #expect(model.city == "12")
        #expect(model.numbers == [1, 2, 1])
        #expect(throws: DecodingError.self) { try decode(Model.self, #"{"lists":[]}"#) }
        #expect(throws: DecodingError.self) { try decode(Model.self, #"{"place":{"city":1},"lists":{}}"#) }
    }

    @Test func decodesSuperclass() throws {
        class Base: Decodable { var id = 0 }
        final class Derived: Base {
            var name: String
            enum Key: CodingKey { case name, base }
            required init(from decoder: any Decoder) throws {
                let container = try decoder.container(keyedBy: Key.self)
                name = try container.decode(String.self, forKey: .name)
                #expect(try container.superDecoder(forKey: .base).codingPath.map(\.stringValue) == ["base"])
                try super.init(from: container.superDecoder())
            }
        }
        let derived = try decode(Derived.self, #"{"name":5,"super":{"id":"7"},"base":{"id":8}}"#)
        #expect(derived.name == "5")
        #expect(derived.id == 7)
        let error = #expect(throws: DecodingError.self) { try decode(Derived.self, #"{"name":5}"#) }
        guard case .valueNotFound(_, let context)? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(context.codingPath.map(\.stringValue) == ["super"])
    }

    @Test func listsKeysOnceInOrder() throws {
        struct Model: Decodable {
            enum Key: String, CodingKey { case a, b, c }
            init(from decoder: any Decoder) throws {
                let container = try decoder.container(keyedBy: Key.self)
                #expect(container.allKeys == [.b, .a])
                #expect(container.contains(.a))
                #expect(!container.contains(.c))
                #expect(try container.decodeNil(forKey: .b))
                #expect(try container.decodeNil(forKey: .c))
                #expect(try !container.decodeNil(forKey: .a))
                #expect(try container.decodeIfPresent(Int.self, forKey: .b) == nil)
                #expect(try container.decodeIfPresent(Int.self, forKey: .c) == nil)
                #expect(try container.decodeIfPresent(Int.self, forKey: .a) == 1)
                #expect(try container.decodeIfPresent([Int].self, forKey: .c) == nil)
            }
        }
        _ = try decode(Model.self, #"{"b":null,"a":"1","x":0,"a":2}"#)
    }

    @Test func convertsOptionalScalars() throws {
        struct Model: Decodable, Equatable {
            var a: Int?, b: Int8?, c: Int16?, d: Int32?, e: Int64?, f: UInt?, g: UInt8?, h: UInt16?, i: UInt32?
            var j: UInt64?, k: Double?, l: Float?, m: String?, n: Bool?, o: Int128?, p: UInt128?
        }
        let names = "abcdefghijklmnop"
        let text = "{" + names.map { "\"\($0)\":\($0 == "m" ? "1" : "\"1\"")" }.joined(separator: ",") + "}"
        let ones = Model(
            a: 1,
            b: 1,
            c: 1,
            d: 1,
            e: 1,
            f: 1,
            g: 1,
            h: 1,
            i: 1,
            j: 1,
            k: 1,
            l: 1,
            m: "1",
            n: true,
            o: 1,
            p: 1
        )
        #expect(try decode(Model.self, text) == ones)
        #expect(try decode(Model.self, "{" + names.map { "\"\($0)\":null" }.joined(separator: ",") + "}") == Model())
        #expect(try decode(Model.self, "{}") == Model())
        for name in names {
            #expect(throws: DecodingError.self) { try decode(Model.self, "{\"\(name)\":[]}") }
        }
    }

    @Test func decodesObjectWithManyMembers() throws {
        let count = 1000
        let members = (0..<count).map { "\"key\($0)\":\"\($0)\"" } + ["\"key1\":\"again\""]
        let dictionary = try decode([String: Int].self, "{" + members.joined(separator: ",") + "}")
        #expect(dictionary.count == count)
        #expect(dictionary["key1"] == 1)
        #expect(dictionary["key999"] == 999)
    }

    @Test func decodesDictionariesWithAnyKeyType() throws {
        enum Level: String, Decodable, CodingKeyRepresentable { case low, high }
        #expect(try decode([String: Int].self, #"{"a":"1","b":true}"#) == ["a": 1, "b": 1])
        #expect(try decode([Int: String].self, #"{"1":2,"-3":"x"}"#) == [1: "2", -3: "x"])
        #expect(try decode([Level: Int].self, #"{"low":"1"}"#) == [.low: 1])
        #expect(try decode([Bool: Int].self, #"["yes","1",false,2]"#) == [true: 1, false: 2])
        #expect(throws: DecodingError.self) { try decode([Int: String].self, #"{"one":2}"#) }
    }

    @Test func comparesKeysLikeSwiftStrings() throws {
        struct Model: Decodable {
            var größe: Int
            enum CodingKeys: String, CodingKey { case größe = "gr\u{F6}\u{DF}e" }
        }
        #expect(try decode(Model.self, "{\"gro\u{308}ße\":1}").größe == 1)
        #expect(try decode(Model.self, #"{"gr\u00f6\u00dfe":2}"#).größe == 2)
    }

    @Test func passesUserInfoToModels() throws {
        struct Model: Decodable {
            var seen: Int?
            init(from decoder: any Decoder) throws {
                seen = CodingUserInfoKey(rawValue: "n").flatMap { decoder.userInfo[$0] as? Int }
                _ = try decoder.singleValueContainer().decode([Int].self)
            }
        }
        var decoder = LenientJSONDecoder()
        decoder.userInfo[try #require(CodingUserInfoKey(rawValue: "n"))] = 5
        #expect(try decoder.decode([Model].self, from: Data("[[]]".utf8)).first?.seen == 5)
    }

    @Test func retainedDecoderStaysUsable() throws {
        struct Kept: Decodable {
            var decoder: any Decoder
            init(from decoder: any Decoder) throws { self.decoder = decoder }
        }
        let kept = try decode([Kept].self, #"[{"a":"1"},"x"]"#)
        #expect(try [String: Int](from: kept[0].decoder) == ["a": 1])
        #expect(throws: DecodingError.self) { try kept[1].decoder.unkeyedContainer() }
        #expect(kept[1].decoder.codingPath.map(\.intValue) == [1])
    }

    @Test func unkeyedContainerEndsAfterLastElement() throws {
        struct Model: Decodable {
            init(from decoder: any Decoder) throws {
                var container = try decoder.unkeyedContainer()
                #expect(container.count == 1)
                #expect(try container.decode(Int.self) == 1)
                #expect(container.isAtEnd)
                #expect(try container.decodeIfPresent(Int.self) == nil)
                #expect(try container.decodeIfPresent([Int].self) == nil)
                for _ in 0..<2 {
                    #expect(throws: DecodingError.self) { try container.decode(Int.self) }
                    #expect(throws: DecodingError.self) { try container.decode([Int].self) }
                    #expect(throws: DecodingError.self) { try container.decodeNil() }
                    #expect(throws: DecodingError.self) { try container.nestedUnkeyedContainer() }
                    #expect(throws: DecodingError.self) { try container.superDecoder() }
                }
                #expect(container.currentIndex == 1)
            }
        }
        _ = try decode([[Model]].self, #"[[["1"]],[]]"#)
    }
}
