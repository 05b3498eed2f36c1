#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension Measurement {
    /// Microseconds it takes to make a request, beyond what the encoder of its body takes.
    static func measureBuilding(_ client: some Competitor) throws -> KeyValuePairs<String, Double> {
        let encoder = JSONEncoder()
        let search = Search()
        var bytes = 0
        var differences: [Double] = []
        // The two are measured in turns, so that a machine that slows down slows both.
        for _ in 0..<101 {
            let building = try seconds(of: 200) { bytes += try client.build(search, .example, encoder) }
            let encoding = try seconds(of: 200) { bytes += try encoder.encode(User.example).count }
            differences.append(building - encoding)
        }
        guard bytes > 0 else { throw Unexpected(description: "the requests were empty") }
        return ["microseconds": differences.median * 1_000_000]
    }

    /// Milliseconds it takes to decode a megabyte leniently, and what Foundation's decoder takes.
    static func measureLenient(_ client: some Competitor) throws -> KeyValuePairs<String, Double> {
        let json = try Reading.json(bytes: 1 << 20)
        let decoder = JSONDecoder()
        let expected = try decoder.decode([Reading].self, from: json).count
        guard try client.lenient(json)?.count == expected else {
            throw Unexpected(description: "the client decodes nothing leniently")
        }
        var lenient: [Double] = []
        var strict: [Double] = []
        for _ in 0..<21 {
            lenient.append(try seconds(of: 1) { _ = try client.lenient(json) })
            strict.append(try seconds(of: 1) { _ = try decoder.decode([Reading].self, from: json) })
        }
        return ["milliseconds": lenient.median * 1000, "jsondecoder": strict.median * 1000]
    }

    /// The time one of several takes.
    private static func seconds(of count: Int, _ work: () throws -> Void) throws -> Double {
        let time = try ContinuousClock().measure { for _ in 0..<count { try work() } }
        return time / .seconds(1) / Double(count)
    }
}

extension [Double] {
    fileprivate var median: Double { sorted()[count / 2] }
}
