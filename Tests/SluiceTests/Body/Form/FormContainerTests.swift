import Foundation
import Testing

@testable import Sluice

/// Values that use all features of an `Encoder`.
@Suite struct FormContainerTests {
    private enum Key: String, CodingKey {
        case a, b, c
    }

    /// A value that a closure encodes.
    private struct Value: Encodable, Sendable {
        let write: @Sendable (any Encoder) throws -> Void

        init(_ write: @escaping @Sendable (any Encoder) throws -> Void) {
            self.write = write
        }

        func encode(to encoder: any Encoder) throws { try write(encoder) }
    }

    private class Animal: Encodable {
        let name = "Rex"

        private enum CodingKeys: String, CodingKey {
            case name
        }

        func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode(name, forKey: .name)
        }
    }

    private final class Dog: Animal {
        let isSharing: Bool
        let ownKey: Key?

        init(isSharing: Bool, ownKey: Key?) {
            self.isSharing = isSharing
            self.ownKey = ownKey
        }

        override func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: Key.self)
            try container.encode(1, forKey: .a)
            if isSharing {
                try super.encode(to: encoder)
            } else if let ownKey {
                try super.encode(to: container.superEncoder(forKey: ownKey))
            } else {
                try super.encode(to: container.superEncoder())
            }
        }
    }

    private static func text(_ value: some Encodable, _ encoder: URLEncodedFormEncoder = .init()) throws -> String {
        let text: String = try encoder.encode(value)
        return text.replacing("%5B", with: "[").replacing("%5D", with: "]")
    }

    @Test func superclassSharesTheContainerOrHasItsOwnKey() throws {
        #expect(try Self.text(Dog(isSharing: true, ownKey: nil)) == "a=1&name=Rex")
        #expect(try Self.text(Dog(isSharing: false, ownKey: nil)) == "a=1&super[name]=Rex")
        #expect(try Self.text(Dog(isSharing: false, ownKey: .b)) == "a=1&b[name]=Rex")
    }

    @Test func nestedContainersAreFilledInAnyOrder() throws {
        let value = Value { encoder in
            var object = encoder.container(keyedBy: Key.self)
            var list = object.nestedUnkeyedContainer(forKey: .b)
            var inner = object.nestedContainer(keyedBy: Key.self, forKey: .a)
            try list.encode(1)
            try inner.encode(2, forKey: .c)
            var deeper = list.nestedContainer(keyedBy: Key.self)
            var rest = list.nestedUnkeyedContainer()
            let last = list.superEncoder()
            try rest.encode("r")
            try deeper.encode(true, forKey: .a)
            try inner.encodeNil(forKey: .b)
            try "s".encode(to: last)
            #expect(list.count == 4)
        }
        let encoder = URLEncodedFormEncoder(arrayEncoding: .indexInBrackets, nilEncoding: .null)
        #expect(try Self.text(value, encoder) == "a[b]=null&a[c]=2&b[0]=1&b[1][a]=1&b[2][0]=r&b[3]=s")
    }

    @Test func containersUnderOneKeyAreMerged() throws {
        let value = Value { encoder in
            for number in 1...2 {
                var object = encoder.container(keyedBy: Key.self)
                var list = object.nestedUnkeyedContainer(forKey: .a)
                try list.encode(number)
                var inner = object.nestedContainer(keyedBy: Key.self, forKey: .b)
                try inner.encode(number, forKey: number == 1 ? .a : .b)
            }
            var object = encoder.container(keyedBy: Key.self)
            try object.encode(["a": 1], forKey: .c)
            var inner = object.nestedContainer(keyedBy: Key.self, forKey: .c)
            try inner.encode(2, forKey: .b)
        }
        #expect(try Self.text(value) == "a[]=1&a[]=2&b[a]=1&b[b]=2&c[a]=1&c[b]=2")
    }

    @Test func lastValueOfAKeyReplacesTheFirstInPlace() throws {
        let value = Value { encoder in
            var object = encoder.container(keyedBy: Key.self)
            try object.encode(1, forKey: .b)
            try object.encode(2, forKey: .a)
            try object.encode([3], forKey: .b)
        }
        #expect(try Self.text(value, .init(sortsKeys: false)) == "b[]=3&a=2")
    }

    @Test func singleValueContainersEncodeAllTypes() throws {
        for (wrapped, text) in [
            (["a": 1] as any Encodable & Sendable, "x[a]=1"), ([1, 2], "x[]=1&x[]=2"), ("t", "x=t"), (Int?.none, "x="),
            (Date(timeIntervalSinceReferenceDate: 5), "x=5"), (Float(1.5), "x=1.5"), (2.5, "x=2.5"), (true, "x=1"),
            (Int8(-1), "x=-1"), (UInt64.max, "x=18446744073709551615"), (Int128.max, "x=\(Int128.max)"),
            (UInt128.max, "x=\(UInt128.max)"),
        ] {
            let inner = Value {
                var container = $0.singleValueContainer()
                try container.encode(wrapped)
            }
            let outer = Value {
                var container = $0.singleValueContainer()
                try container.encode(inner)
            }
            #expect(try Self.text(["x": outer], .init(nilEncoding: .dropValue)) == text)
            #expect(try Self.text(["x": [outer]], .init(nilEncoding: .dropValue)) == text.replacing("x", with: "x[]"))
        }
    }

    @Test func optionalsOfEveryTypeAreEncodedAsNil() throws {
        let value = Value { encoder in
            var object = encoder.container(keyedBy: PathKey.self)
            var index = 0
            func key() -> PathKey {
                index += 1
                return PathKey.member("\(index + 9)")
            }
            try object.encodeIfPresent(Bool?.none, forKey: key())
            try object.encodeIfPresent(String?.none, forKey: key())
            try object.encodeIfPresent(Double?.none, forKey: key())
            try object.encodeIfPresent(Float?.none, forKey: key())
            try object.encodeIfPresent(Int?.none, forKey: key())
            try object.encodeIfPresent(Int8?.none, forKey: key())
            try object.encodeIfPresent(Int16?.none, forKey: key())
            try object.encodeIfPresent(Int32?.none, forKey: key())
            try object.encodeIfPresent(Int64?.none, forKey: key())
            try object.encodeIfPresent(Int128?.none, forKey: key())
            try object.encodeIfPresent(UInt?.none, forKey: key())
            try object.encodeIfPresent(UInt8?.none, forKey: key())
            try object.encodeIfPresent(UInt16?.none, forKey: key())
            try object.encodeIfPresent(UInt32?.none, forKey: key())
            try object.encodeIfPresent(UInt64?.none, forKey: key())
            try object.encodeIfPresent(UInt128?.none, forKey: key())
            try object.encodeIfPresent(URL?.none, forKey: key())
            try object.encodeIfPresent([Int]?.none, forKey: key())
        }
        let text = try Self.text(value, .init(nilEncoding: .dropValue))
        #expect(text == (10...27).map { "\($0)=" }.joined(separator: "&"))
        #expect(try Self.text(value).isEmpty)
    }

    @Test func optionalsOfEveryTypeAreEncodedWithTheirValue() throws {
        struct Optionals: Encodable {
            var a: Bool? = true
            var b: String? = "s"
            var c: Double? = 0.5
            var d: Float? = 0.25
            var e: Int? = -1
            var f: Int8? = -8
            var g: Int16? = -16
            var h: Int32? = -32
            var i: Int64? = -64
            var j: Int128? = -128
            var k: UInt? = 1
            var l: UInt8? = 8
            var m: UInt16? = 16
            var n: UInt32? = 32
            var o: UInt64? = 64
            var p: UInt128? = 128
            var q: URL? = URL(string: "a:b")
            var r: [Int]? = [1]
        }
        let text =
            "a=1&b=s&c=0.5&d=0.25&e=-1&f=-8&g=-16&h=-32&i=-64&j=-128&k=1&l=8&m=16&n=32&o=64&p=128&q=a%3Ab&r[]=1"
        #expect(try Self.text(Optionals()) == text)
    }

    @Test func encoderPassesCodingPathAndUserInfo() throws {
        let name = try #require(CodingUserInfoKey(rawValue: "name"))
        let value = Value { encoder in
            var container = encoder.singleValueContainer()
            let path = container.codingPath.map { $0.intValue.map(String.init) ?? $0.stringValue }
            try container.encode(path.joined(separator: "/") + "/\(encoder.userInfo[name] ?? "nobody")")
        }
        var encoder = URLEncodedFormEncoder()
        encoder.userInfo[name] = "Ada"
        #expect(try Self.text(["a": ["b": [value]]], encoder) == "a[b][]=a%2Fb%2F0%2FAda")
        let typed = Value { encoder in
            var object = encoder.container(keyedBy: Key.self)
            try object.encode(
                Value { #expect($0.codingPath.last is Key && $0.codingPath.count == 1) },
                forKey: .a
            )
            var nested = object.nestedContainer(keyedBy: Key.self, forKey: .b)
            #expect(nested.codingPath.map(\.stringValue) == ["b"])
            #expect(nested.nestedUnkeyedContainer(forKey: .c).codingPath.map(\.stringValue) == ["b", "c"])
        }
        #expect(try Self.text(typed) == "")
    }
}
