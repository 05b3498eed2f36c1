import Foundation
import Sluice
import SluiceTesting

/// Sends traffic for some time, and fails if the process holds more resources at the end than after the warm-up.
@main
struct Soak {
    static func main() async throws {
        let arguments = CommandLine.arguments.dropFirst()
        guard arguments.count >= 3, let seconds = Int(arguments[1]) else {
            print("usage: soak SECONDS SVG CERTIFICATE [URL …]")
            exit(64)
        }
        let certificate = arguments[3]
        let urls = Array(arguments.dropFirst(3))
        let ledger = Ledger()
        let traffic = try Traffic(urls, trusting: certificate, ledger)
        let end = ContinuousClock.now + .seconds(seconds)
        var samples: [Sample] = []
        await withTaskGroup(of: Void.self) { group in
            for worker in 0..<12 {
                group.addTask { await traffic.run(until: end, seed: UInt64(worker)) }
            }
            let began = ContinuousClock.now
            while ContinuousClock.now < end {
                try? await Task.sleep(for: .seconds(min(5, max(1, seconds / 60))))
                let elapsed = (ContinuousClock.now - began) / .seconds(1)
                samples.append(Sample.now(after: elapsed, sent: ledger.count))
                if samples.count % 12 == 0, let last = samples.last { print(last) }
            }
        }
        try Data(Plot(samples).svg.utf8).write(to: URL(filePath: arguments[2]))
        print(ledger.summary)
        let verdict = Verdict(samples, ledger)
        print(verdict)
        exit(verdict.isGood ? 0 : 1)
    }
}
