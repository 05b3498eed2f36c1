import Sluice
import SluiceRedis

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Measures what many machines share, with a Redis server on this machine.
///
///     bench-fleet hit socket=PATH seconds=N in-flight=16
///     bench-fleet permit socket=PATH seconds=N count=LIMITS
///     bench-fleet invalidation socket=PATH count=N
@main
struct FleetBench {
    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    private let redis: RedisClient
    private let seal: RedisSeal
    private let seconds: Double
    private let inFlight: Int
    private let count: Int

    static func main() async throws {
        var words = CommandLine.arguments.dropFirst()
        guard let mode = words.popFirst() else { throw Failure(description: "The mode is missing.") }
        var values: [String: String] = [:]
        for word in words {
            let parts = word.split(separator: "=", maxSplits: 1)
            if parts.count == 2 { values[String(parts[0])] = String(parts[1]) }
        }
        let bench = try FleetBench(values)
        switch mode {
        case "hit": try await bench.measureHits()
        case "permit": try await bench.measurePermits()
        case "invalidation": try await bench.measureInvalidations()
        default: throw Failure(description: "There is no mode '\(mode)'.")
        }
    }

    private init(_ values: [String: String]) throws {
        guard let socket = values["socket"] else { throw Failure(description: "socket=… is missing.") }
        var server = RedisServer(unixSocket: socket)
        server.commandTimeout = .seconds(5)
        redis = RedisClient(server)
        seal = try RedisSeal(Secret("0123456789abcdef0123456789abcdef"))
        seconds = values["seconds"].flatMap(Double.init) ?? 2
        inFlight = values["in-flight"].flatMap(Int.init) ?? 16
        count = values["count"].flatMap(Int.init) ?? 1000
    }

    private func storage() -> RedisCacheStorage { RedisCacheStorage(redis, seal: seal) }

    /// Reads entries of 1 KiB that are not in memory.
    private func measureHits() async throws {
        let names = (0..<1000).map { "entry \($0)" }
        let body = Data(repeating: 0x61, count: 1024)
        let filling = CacheStore(storage: storage())
        for name in names { try await filling.set(body, for: name) }
        let store = CacheStore(storage: storage()) { $0.memory.count = 0 }
        let clock = ContinuousClock()
        let end = clock.now + .seconds(seconds)
        let times = try await withThrowingTaskGroup(of: [Duration].self) { group in
            for lane in 0..<inFlight {
                group.addTask {
                    var times: [Duration] = []
                    var number = lane
                    while clock.now < end {
                        let name = names[number % names.count]
                        number += inFlight
                        var value: Data?
                        times.append(try await clock.measure { value = try await store.value(for: name) })
                        guard value == body else { throw Failure(description: "There is no entry, or a wrong one.") }
                    }
                    return times
                }
            }
            return try await group.reduce(into: []) { $0 += $1 }
        }
        print("rate=\(Int(Double(times.count) / seconds)) \(Self.percentile(times))")
    }

    /// Takes the permits of several limits with 64 tasks, whose requests a stub answers. With several, more of the time is that of the
    /// permits.
    private func measurePermits() async throws {
        // The limits are out of reach, and the buckets fill before the measurement.
        let limits = (0..<count).map { number in
            RedisRateLimit(2_000_000, every: .seconds(1), on: redis, named: "bench\(number)")
        }
        let client = APIClient(baseURL: "http://127.0.0.1:9") {
            $0.gates = limits
            $0.stub = .data(Data())
        }
        let clock = ContinuousClock()
        func run(for duration: Duration) async -> Int {
            let end = clock.now + duration
            return await withTaskGroup(of: Int.self) { group in
                for _ in 0..<64 {
                    group.addTask {
                        var count = 0
                        while clock.now < end {
                            if (try? await client.data.get("x").sender().value) != nil { count += 1 }
                        }
                        return count
                    }
                }
                return await group.reduce(0, +)
            }
        }
        _ = await run(for: .seconds(1))
        let taken = await run(for: .seconds(seconds))
        print("rate=\(Int(Double(taken * count) / seconds))")
    }

    /// Removes entries on one machine, and waits until another one has dropped them from its memory.
    private func measureInvalidations() async throws {
        let (one, other) = (CacheStore(storage: storage()), CacheStore(storage: storage()))
        let clock = ContinuousClock()
        var times: [Duration] = []
        for number in 0..<count {
            let name = "entry \(number)"
            try await one.set("text", for: name)
            guard try await other.value(for: name, as: String.self) != nil else {
                throw Failure(description: "There is no entry.")
            }
            let begin = clock.now
            try await one.remove(name)
            while try await other.value(for: name, as: String.self) != nil { await Task.yield() }
            times.append(clock.now - begin)
        }
        print(Self.percentile(times))
    }

    private static func percentile(_ times: [Duration]) -> String {
        let sorted = times.sorted()
        guard !sorted.isEmpty else { return "p50=0 p99=0" }
        func milliseconds(_ share: Double) -> Double {
            sorted[min(sorted.count - 1, Int(Double(sorted.count) * share))] / .milliseconds(1)
        }
        return "p50=\(milliseconds(0.5)) p99=\(milliseconds(0.99))"
    }
}
