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

    /// The lower figures of two samples.
    func lowest(_ other: Sample) -> Sample {
        Sample(
            time: other.time,
            sent: other.sent,
            memory: min(memory, other.memory),
            descriptors: min(descriptors, other.descriptors),
            threads: min(threads, other.threads)
        )
    }

    // The figures that a later sample may have. Two SQLite databases, with seven descriptors each, may open after this one.
    var memoryLimit: Double { memory * 1.1 + 16 }
    var descriptorLimit: Int { descriptors + 20 }
    var threadLimit: Int { threads + 16 }

    var description: String {
        "\(Int(time)) s: \(sent) requests, \(Int(memory)) MiB, \(descriptors) descriptors, \(threads) threads"
    }
}

/// The comparison of the resources at the end with those after the warm-up, both without traffic and without idle connections.
struct Verdict: CustomStringConvertible {
    let isGood: Bool
    let description: String

    init(first: Sample, last: Sample, _ ledger: Ledger) {
        let figures: [(name: String, before: Double, after: Double, isFlat: Bool)] = [
            ("memory in MiB", first.memory, last.memory, last.memory <= first.memoryLimit),
            (
                "descriptors", Double(first.descriptors), Double(last.descriptors),
                last.descriptors <= first.descriptorLimit
            ),
            ("threads", Double(first.threads), Double(last.threads), last.threads <= first.threadLimit),
        ]
        let lines = figures.map { figure in
            "\(figure.name): \(Int(figure.before.rounded())) → \(Int(figure.after.rounded()))"
                + (figure.isFlat ? "" : ", grown")
        }
        let requests = "requests: \(ledger.count), unexpected: \(ledger.unexpectedCount)"
        isGood = ledger.unexpected.isEmpty && ledger.count > 0 && figures.allSatisfy(\.isFlat)
        description = (lines + [requests] + ledger.unexpected).joined(separator: "\n")
    }
}
