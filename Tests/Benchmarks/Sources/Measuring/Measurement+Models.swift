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
        let building = try medianSeconds(of: 1000) { bytes += try client.build(search, .example, encoder) }
        let encoding = try medianSeconds(of: 1000) { bytes += try encoder.encode(User.example).count }
        guard bytes > 0 else { throw Unexpected(description: "the requests were empty") }
        return ["microseconds": (building - encoding) * 1_000_000]
    }

    /// Milliseconds it takes to decode a megabyte leniently, and what Foundation's decoder takes.
    static func measureLenient(_ client: some Competitor) throws -> KeyValuePairs<String, Double> {
        let json = try Reading.json(bytes: 1 << 20)
        let decoder = JSONDecoder()
        let expected = try decoder.decode([Reading].self, from: json).count
        guard try client.lenient(json)?.count == expected else {
            throw Unexpected(description: "the client decodes nothing leniently")
        }
        let lenient = try medianSeconds(of: 1) { _ = try client.lenient(json) }
        let strict = try medianSeconds(of: 1) { _ = try decoder.decode([Reading].self, from: json) }
        return ["milliseconds": lenient * 1000, "jsondecoder": strict * 1000]
    }

    /// The time one of several takes, as the median of 41 rounds of them.
    private static func medianSeconds(of count: Int, _ work: () throws -> Void) throws -> Double {
        let clock = ContinuousClock()
        var rounds: [Double] = []
        for _ in 0..<41 {
            let time = try clock.measure { for _ in 0..<count { try work() } }
            rounds.append(time / .seconds(1) / Double(count))
        }
        return rounds.sorted()[rounds.count / 2]
    }
}
