import Foundation
import Sluice
import SluiceTesting

/// Sends traffic for some time, and fails if a request does not end as it must, or if the process holds more resources at
/// the end than after the warm-up.
@main
struct Soak {
    /// The time after which a request that has not ended counts as hanging. Retries take the longest, up to 80 seconds.
    private static let hangs = Duration.seconds(100)

    static func main() async throws {
        guard let options = Options(CommandLine.arguments) else {
            print(Options.usage)
            exit(64)
        }
        print("The seed is \(options.seed): Tests/Soak/run --seconds \(options.seconds) --seed \(options.seed)")
        let ledger = Ledger()
        let smallFolder = options.smallFolder?.appending(path: "soak-\(UUID().uuidString)")
        if let smallFolder {
            try FileManager.default.createDirectory(at: smallFolder, withIntermediateDirectories: true)
        }
        let chaos = Chaos(smallFolder: smallFolder)
        let traffic = try Traffic(options, chaos, ledger)
        try await traffic.start()
        let warmUp = max(1, options.seconds / 10)
        _ = await run(traffic, chaos, ledger, seconds: warmUp, seed: options.seed)
        // Look-ups of the silent name server end after four seconds.
        let first = await traffic.rest(for: .seconds(6))
        let samples = await run(traffic, chaos, ledger, seconds: options.seconds - warmUp, seed: options.seed &+ 12)
        let last = await traffic.rest(for: .seconds(30), comparedTo: first)
        if let plot = options.plot { try Data(Plot(samples).svg.utf8).write(to: URL(filePath: plot)) }
        print(ledger.summary)
        print("chaos: \(chaos.summary)")
        let verdict = Verdict(first: first, last: last, ledger)
        print(verdict)
        let left = await traffic.transfersLeft()
        if left > 0 { print("\(left) transfers are left") }
        traffic.stop()
        if let smallFolder { try? FileManager.default.removeItem(at: smallFolder) }
        exit(verdict.isGood && left == 0 ? 0 : 1)
    }

    /// Sends requests for some time, and returns samples of the process during it.
    private static func run(
        _ traffic: Traffic,
        _ chaos: Chaos,
        _ ledger: Ledger,
        seconds: Int,
        seed: UInt64
    ) async -> [Sample] {
        let began = ContinuousClock.now
        let end = began + .seconds(seconds)
        let sampler = Task {
            var samples: [Sample] = []
            while (try? await Task.sleep(for: .seconds(min(5, max(1, seconds / 60))))) != nil {
                if let hanging = ledger.longest, hanging.time > hangs {
                    print("\(hanging.kind) has not ended after \(hanging.time).")
                    exit(1)
                }
                // Files cannot be opened for a sample while there are no descriptors.
                guard ContinuousClock.now < end, !chaos.isStarved else { continue }
                samples.append(Sample.now(after: (ContinuousClock.now - began) / .seconds(1), sent: ledger.count))
                if samples.count % 12 == 0, let last = samples.last { print(last) }
            }
            return samples
        }
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await chaos.run(until: end, seed: seed) }
            for worker in 0..<12 {
                group.addTask { await traffic.run(until: end, seed: seed &+ UInt64(worker)) }
            }
        }
        sampler.cancel()
        return await sampler.value
    }
}

/// The arguments of the program, which the script passes.
struct Options: Sendable {
    static let usage = """
        usage: soak --seconds N --seed N --certificate FILE --secure URL,URL --mortal URL [--plot FILE] [--small FOLDER]
                    [--silent-names]
        """

    let seconds: Int
    let seed: UInt64
    let certificate: String
    /// The servers that use TLS.
    let secure: [String]
    /// The server that is killed and started again.
    let mortal: String
    let plot: String?
    /// A folder on a file system of one megabyte; nil if there is none.
    let smallFolder: URL?
    /// True if the name server answers no question.
    let hasSilentNames: Bool

    init?(_ arguments: [String]) {
        var values: [String: String] = [:]
        var rest = arguments.dropFirst()
        while let name = rest.popFirst() {
            values[name] = name == "--silent-names" ? "" : rest.popFirst()
        }
        guard let seconds = values["--seconds"].flatMap({ Int($0) }),
            let seed = values["--seed"].flatMap({ UInt64($0) }), let certificate = values["--certificate"],
            let secure = values["--secure"], let mortal = values["--mortal"]
        else { return nil }
        self.seconds = seconds
        self.seed = seed
        self.certificate = certificate
        self.secure = secure.split(separator: ",").map(String.init)
        self.mortal = mortal
        plot = values["--plot"]
        smallFolder = values["--small"].map { URL(filePath: $0) }
        hasSilentNames = values["--silent-names"] != nil
    }
}
