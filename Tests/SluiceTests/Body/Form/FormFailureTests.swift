import Foundation
import Testing

@testable import Sluice

@Suite struct FormFailureTests {
    private struct Report: Encodable {
        var filter = Filter()

        struct Filter: Encodable {
            var items = [Item(price: 1), Item(price: 2), Item(price: .nan)]
        }

        struct Item: Encodable {
            var price: Double
        }
    }

    private final class Ring: Encodable {
        var next: Ring?
    }

    private struct Refused: Error {}

    /// A value that a closure encodes.
    private struct Value: Encodable {
        let write: (any Encoder) throws -> Void

        init(_ write: @escaping (any Encoder) throws -> Void) {
            self.write = write
        }

        func encode(to encoder: any Encoder) throws { try write(encoder) }
    }

    private func failure(
        of value: some Encodable,
        _ encoder: URLEncodedFormEncoder = URLEncodedFormEncoder()
    ) -> FormEncodingFailure? {
        do throws(FormEncodingFailure) {
            let _: String = try encoder.encode(value)
            return nil
        } catch {
            return error
        }
    }

    @Test func errorContainsThePathOfTheField() {
        let description = """
            The form could not be encoded: at “filter.items[2].price”, the number nan cannot be represented in a form.
            """
        #expect(failure(of: Report())?.codingPath == "filter.items[2].price")
        #expect(failure(of: Report())?.description == description)
    }

    @Test func nonFiniteNumbersAndDatesOutOfRangeAreErrors() {
        for number in [Double.nan, .infinity, -.infinity, .signalingNaN] {
            #expect(failure(of: ["a": number])?.codingPath == "a")
            #expect(failure(of: ["a": [number]])?.codingPath == "a[0]")
            #expect(failure(of: ["a": Float(number)])?.codingPath == "a")
            #expect(failure(of: ["a": [Optional(Float(number))]])?.codingPath == "a[0]")
            let date = Date(timeIntervalSinceReferenceDate: number)
            #expect(failure(of: ["a": date])?.codingPath == "a")
            #expect(failure(of: ["a": date], .init(dateEncoding: .secondsSince1970))?.codingPath == "a")
            #expect(failure(of: ["a": date], .init(dateEncoding: .millisecondsSince1970))?.codingPath == "a")
            #expect(failure(of: ["a": date], .init(dateEncoding: .iso8601))?.codingPath == "a")
        }
        #expect(failure(of: [1: [Decimal.nan]])?.codingPath == "1[0]")
        for seconds in [-1e300, -62_135_769_601, 253_402_300_800, 1e300] {
            let date = Date(timeIntervalSince1970: seconds)
            #expect(failure(of: ["a": date], .init(dateEncoding: .iso8601))?.codingPath == "a")
        }
    }

    @Test func aValueWithoutNamesIsAnError() {
        for value: any Encodable in [
            1, "a", true, 1.5, [1], [Int](), ["a": 1].values.map { $0 }, [[1: 2]], Date(), Data(), URL(filePath: "/"),
            Decimal(1), UUID(), [true: 1], Int128.max, Optional(1),
        ] {
            let failure = failure(of: value)
            #expect(failure?.codingPath == "", "\(value)")
            #expect(failure?.description.contains("names") == true, "\(value)")
        }
        #expect(failure(of: [1, 2])?.reason.contains("Array<Int>") == true)
    }

    @Test func cyclicValuesAreAnError() {
        let ring = Ring()
        ring.next = ring
        defer { ring.next = nil }
        let failure = failure(of: ring)
        #expect(failure?.codingPath.hasPrefix("next.next.next.") == true)
        #expect(failure?.codingPath.hasSuffix("…") == true)
        #expect(
            failure?.reason == "values are nested more than 512 levels deep, possibly because a value contains itself"
        )
    }

    @Test func valuesMayBeNestedToTheLimit() {
        struct Nested: Encodable {
            var depth: Int

            func encode(to encoder: any Encoder) throws {
                var container = encoder.container(keyedBy: PathKey.self)
                if depth > 0 { try container.encode(Nested(depth: depth - 1), forKey: .member("n")) }
            }
        }
        // The outermost value counts as a level.
        #expect(failure(of: Nested(depth: 511)) == nil)
        #expect(failure(of: Nested(depth: 512))?.reason.contains("512") == true)
    }

    @Test func nestingLimitAppliesToNonthrowingContainers() {
        let keyed = Value { encoder in
            var container = encoder.container(keyedBy: PathKey.self)
            for _ in 0..<10_000 {
                container = container.nestedContainer(keyedBy: PathKey.self, forKey: .member("n"))
            }
        }
        let unkeyed = Value { encoder in
            var container = encoder.unkeyedContainer()
            for _ in 0..<10_000 { container = container.nestedUnkeyedContainer() }
        }
        let supers = Value { encoder in
            var encoder = encoder
            for _ in 0..<10_000 {
                var container = encoder.container(keyedBy: PathKey.self)
                encoder = container.superEncoder()
            }
        }
        var itself = Value { _ in }
        itself = Value { encoder in
            var container = encoder.singleValueContainer()
            try container.encode(itself)
        }
        for value in [keyed, unkeyed, supers, itself] {
            #expect(failure(of: ["a": value])?.reason.contains("512") == true)
        }
    }

    @Test func errorContainsThePathOfAThrowingValue() {
        let refusing = Value { _ in throw Refused() }
        let failure = failure(of: ["a": ["b": [refusing]]])
        #expect(failure?.codingPath == "a.b[0]")
        #expect(failure?.reason == "encoding threw Refused")
        #expect(failure?.cause is Refused)
        #expect(
            failure?.description
                == "The form could not be encoded: at “a.b[0]”, encoding threw Refused. Cause: Refused()"
        )
        #expect(failure?.sentence == "The form could not be encoded: at “a.b[0]”, encoding threw Refused.")
        #expect(self.failure(of: refusing)?.codingPath == "")
    }

    @Test func failedFieldsAreOmittedIfTheValueCatchesTheError() throws {
        let recovering = Value { encoder in
            var container = encoder.container(keyedBy: PathKey.self)
            try? container.encode(Double.nan, forKey: .member("a"))
            try? container.encode(Value { _ in throw Refused() }, forKey: .member("b"))
            try container.encode(1, forKey: .member("c"))
        }
        #expect(try URLEncodedFormEncoder().encode(recovering) as String == "c=1")
    }

    @Test(arguments: [
        ["keyed", "unkeyed"], ["unkeyed", "keyed"], ["single", "single"], ["single", "keyed"], ["single", "unkeyed"],
        ["keyed", "single"], ["nil", "single"], ["unkeyed", "nil"], ["nil", "keyed"], ["unkeyed", "keyed", "single"],
    ])
    func twoContainersForOneValueAreAnError(_ things: [String]) {
        let value = Value { encoder in
            var single = encoder.singleValueContainer()
            for thing in things {
                switch thing {
                case "keyed":
                    var container = encoder.container(keyedBy: PathKey.self)
                    try container.encode(1, forKey: .member("k"))
                case "unkeyed":
                    var container = encoder.unkeyedContainer()
                    try container.encode(1)
                case "nil": try single.encodeNil()
                default: try single.encode(1)
                }
            }
        }
        let failure = failure(of: ["a": value])
        #expect(failure?.codingPath == "a")
        #expect(failure?.reason == "the value was encoded more than once, or in more than one kind of container")
    }

    @Test func containersOfTwoKindsUnderOneKeyAreAnError() {
        let value = Value { encoder in
            var container = encoder.container(keyedBy: PathKey.self)
            try container.encode(1, forKey: .member("k"))
            _ = container.nestedUnkeyedContainer(forKey: .member("k"))
        }
        #expect(failure(of: value)?.codingPath == "k")
    }

    @Test func requestErrorContainsTheFieldWithoutTheCause() {
        let encoder = URLEncodedFormEncoder(dateEncoding: .custom { _, _ in throw SluiceError(.unsupported, "secret") })
        let request = APIClient(baseURL: "http://a.b").data.get("x").query(["a": Date()], encoder: encoder)
        let error = #expect(throws: SluiceError.self) { try request.httpRequest() }
        #expect(error?.code == .encodingFailed)
        #expect(error?.step == .building)
        #expect(error?.description == "The form could not be encoded: at “a”, encoding threw SluiceError.")
        #expect(error?.expandedDescription.contains("secret") == true)
    }
}
