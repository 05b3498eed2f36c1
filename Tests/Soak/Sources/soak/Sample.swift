import Foundation

/// The resources of the process at one time.
struct Sample: CustomStringConvertible {
    /// The seconds since the start.
    let time: Double
    let sent: Int
    /// Resident memory in MiB.
    let memory: Double
    let descriptors: Int
    let threads: Int

    static func now(after time: Double, sent: Int) -> Sample {
        let status = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
        let field = { (name: String) in
            status.split(separator: "\n").first { $0.hasPrefix("\(name):") }
                .flatMap { $0.split(whereSeparator: \.isWhitespace).dropFirst().first }
                .flatMap { Int($0) } ?? 0
        }
        let descriptors = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count) ?? 0
        return Sample(
            time: time,
            sent: sent,
            memory: Double(field("VmRSS")) / 1024,
            descriptors: descriptors,
            threads: field("Threads")
        )
    }

    var description: String {
        "\(Int(time)) s: \(sent) requests, \(Int(memory)) MiB, \(descriptors) descriptors, \(threads) threads"
    }
}

/// The comparison of the resources at the end with those after the warm-up: medians of the second and the last tenth of the
/// samples.
struct Verdict: CustomStringConvertible {
    let isGood: Bool
    let description: String

    init(_ samples: [Sample], _ ledger: Ledger) {
        let tenth = max(1, samples.count / 10)
        let early = samples.dropFirst(tenth).prefix(tenth)
        let late = samples.suffix(tenth)
        let median = { (samples: ArraySlice<Sample>, figure: (Sample) -> Double) -> Double in
            let sorted = samples.map(figure).sorted()
            return sorted.isEmpty ? 0 : sorted[sorted.count / 2]
        }
        var lines: [String] = []
        var isGood = ledger.unexpected.isEmpty && !samples.isEmpty
        for (name, figure, factor) in [
            ("memory in MiB", { $0.memory }, 1.1), ("descriptors", { Double($0.descriptors) }, 1.1),
            ("threads", { Double($0.threads) }, 1.1),
        ] as [(String, (Sample) -> Double, Double)] {
            let (before, after) = (median(early, figure), median(late, figure))
            let isFlat = after <= before * factor + 4
            isGood = isGood && isFlat
            lines.append(
                "\(name): \(Int(before.rounded())) → \(Int(after.rounded()))\(isFlat ? "" : ", grown")"
            )
        }
        lines.append("requests: \(ledger.count), unexpected: \(ledger.unexpectedCount)")
        lines += ledger.unexpected
        self.isGood = isGood
        description = lines.joined(separator: "\n")
    }
}
