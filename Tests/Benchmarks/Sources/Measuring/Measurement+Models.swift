#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension Measurement {
    /// Measures the microseconds to create a request, without the time of its body's encoder.
    static func measureBuilding(_ client: some Competitor) throws -> KeyValuePairs<String, Double> {
        let encoder = JSONEncoder()
        let search = Search()
        var bytes = 0
        var differences: [Double] = []
        // The two are measured alternately, so that changes of the machine's speed affect both.
        for _ in 0..<101 {
            let building = try seconds(of: 200) { bytes += try client.build(search, .example, encoder) }
            let encoding = try seconds(of: 200) { bytes += try encoder.encode(User.example).count }
            differences.append(building - encoding)
        }
        guard bytes > 0 else { throw Unexpected(description: "the requests were empty") }
        return ["microseconds": differences.median * 1_000_000]
    }

    /// Measures the milliseconds to decode a megabyte leniently, and the same for Foundation's decoder.
    static func measureLenient(_ client: some Competitor) throws -> KeyValuePairs<String, Double> {
        let json = try Reading.json(bytes: 1 << 20)
        let decoder = JSONDecoder()
        let expected = try decoder.decode([Reading].self, from: json).count
        guard try client.lenient(json)?.count == expected else {
            throw Unexpected(description: "the client has no lenient decoder")
        }
        var lenient: [Double] = []
        var strict: [Double] = []
        for _ in 0..<21 {
            lenient.append(try seconds(of: 1) { _ = try client.lenient(json) })
            strict.append(try seconds(of: 1) { _ = try decoder.decode([Reading].self, from: json) })
        }
        return ["milliseconds": lenient.median * 1000, "jsondecoder": strict.median * 1000]
    }

    /// Returns the average time of several calls.
    private static func seconds(of count: Int, _ work: () throws -> Void) throws -> Double {
        let time = try ContinuousClock().measure { for _ in 0..<count { try work() } }
        return time / .seconds(1) / Double(count)
    }
}

extension [Double] {
    fileprivate var median: Double { sorted()[count / 2] }
}
