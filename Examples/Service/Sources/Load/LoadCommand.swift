import Sluice

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif
#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Sends requests to the service, three for users and then one for a summary, and prints the throughput and the latency.
///
/// `user-load URL [REQUESTS [IN_FLIGHT]]`: by default 2,000 requests, 32 in flight. Fails if a response is not 200.
@main struct LoadCommand {
    static func main() async {
        let arguments = CommandLine.arguments.dropFirst()
        let numbers = arguments.dropFirst().map { Int($0) ?? 0 }
        guard let url = arguments.first, numbers.count < 3, numbers.allSatisfy({ $0 > 0 }) else {
            report("usage: user-load URL [REQUESTS [IN_FLIGHT]]")
            exit(EX_USAGE)
        }
        let (count, inFlight) = (numbers.first ?? 2_000, numbers.count > 1 ? numbers[1] : 32)
        let metrics = RequestMetrics()
        let client = APIClient(baseURL: url) { $0.observers = [metrics] }
        let requests = (0..<count).map { number in
            let id = 1 + number % 500
            return client.data.get(number % 4 == 3 ? "users/\(id)/summary" : "users/\(id)")
        }
        let start = ContinuousClock.now
        let results = await client.batchSender(requests, maximumInFlight: inFlight, failsFast: false).results
        let seconds = start.duration(to: .now) / .seconds(1)
        let latency = metrics.snapshot().total.latency
        let milliseconds = [50.0, 99].map { (latency.percentile($0) ?? .zero) / .milliseconds(1) }
        print(
            "\(count) requests, \(inFlight) in flight: \(Int(Double(count) / seconds)) per second,",
            "p50 \(Int(milliseconds[0].rounded())) ms, p99 \(Int(milliseconds[1].rounded())) ms"
        )
        let failures = results.compactMap { result in
            if case .failure(let error) = result { error } else { nil }
        }
        for (reason, failures) in Dictionary(grouping: failures, by: { "\($0.status.map { "\($0)" } ?? "\($0.code)")" })
        {
            report("✗ \(reason): \(failures.count)")
        }
        if !failures.isEmpty { exit(EXIT_FAILURE) }
    }

    /// Writes a line to standard error.
    private static func report(_ line: String) {
        let bytes = Array("\(line)\n".utf8)
        _ = write(STDERR_FILENO, bytes, bytes.count)
    }
}
