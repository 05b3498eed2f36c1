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

/// The comparison of the resources at the end with those after the warm-up: the lowest figures of the last three tenths of the samples and of
/// the three after the first. What leaks is never given back, but the highest figures depend on the faults at that time.
struct Verdict: CustomStringConvertible {
    let isGood: Bool
    let description: String

    init(_ samples: [Sample], _ ledger: Ledger) {
        let tenth = max(1, samples.count / 10)
        let early = samples.dropFirst(tenth).prefix(3 * tenth)
        let late = samples.suffix(3 * tenth)
        var lines: [String] = []
        var isGood = ledger.unexpected.isEmpty && !samples.isEmpty
        for (name, figure, slack) in [
            ("memory in MiB", { $0.memory }, 16), ("descriptors", { Double($0.descriptors) }, 16),
            ("threads", { Double($0.threads) }, 16),
        ] as [(String, (Sample) -> Double, Double)] {
            let before = early.map(figure).min() ?? 0
            let after = late.map(figure).min() ?? 0
            let isFlat = after <= before * 1.1 + slack
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
