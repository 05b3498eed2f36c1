import Foundation
import Testing

@testable import SluiceJSON

/// Objects with many members, whatever their names, are decoded in linear time. With quadratic time, these tests do not
/// end.
@Suite struct CollidingKeyTests {
    private static let count = 20_000

    private struct Model: Decodable {
        var firstName: String?
        var last: Int?
    }

    private func decode<Value: Decodable>(
        _ type: Value.Type,
        _ names: (Int) -> String,
        _ strategy: JSONDecoder.KeyDecodingStrategy = .useDefaultKeys
    ) throws -> Value {
        var text = "{"
        for index in 0..<Self.count { text += "\"\(names(index))\":\(index)," }
        text += "\"last\":-1}"
        return try LenientJSONDecoder(keyDecodingStrategy: strategy).decode(type, from: Data(text.utf8))
    }

    /// Names that one strategy converts to the same name.
    static let names: [@Sendable (Int) -> String] = [
        { _ in "first_name" }, { ["first_name", "first__name", "FIRST_NAME", "firstName"][$0 % 4] },
        { "first\(String(repeating: "_", count: $0 % 100 + 1))name" }, { "k\($0)" }, { "\\u0066irst_name\($0)" },
        { $0 % 2 == 0 ? "e\\u0301\($0 / 2)" : "\\u00e9\($0 / 2)" },
    ]

    @Test(arguments: names.indices)
    func membersWithTheSameConvertedNameAreLinear(_ index: Int) async throws {
        let names = Self.names[index]
        #expect(try decode(Model.self, names, .convertFromSnakeCase).last == -1)
        #expect(try decode(Model.self, names).last == -1)
        // Lets other tests go on, some of which measure time.
        await Task.yield()
        #expect(try decode([String: Int].self, names)["last"] == -1)
        #expect(try decode(JSON.self, names).last == -1)
    }

    @Test func customStrategyWithOneNameForAllIsLinear() throws {
        let strategy = JSONDecoder.KeyDecodingStrategy.custom { _ in PathKey.member("firstName") }
        #expect(try decode(Model.self, { "k\($0)" }, strategy).firstName == "0")
    }

    /// Numbers with the same nearest `Double` are different members of a set.
    @Test(arguments: ["1e4", "0.1000000000000000000000", "9007199254740992.000000"])
    func numbersWithTheSameDoubleAreLinear(_ prefix: String) throws {
        let text = "[\((0..<20_000).map { "\(prefix)\(100_000 + $0)" }.joined(separator: ","))]"
        let numbers = try LenientJSONDecoder().decode(Set<JSONNumber>.self, from: Data(text.utf8))
        #expect(numbers.count == 20_000)
        #expect(try Set(#require(JSON(parsing: text).array)).count == 20_000)
    }
}
