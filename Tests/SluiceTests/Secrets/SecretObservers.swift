import Foundation
import Sluice
import SluiceTesting

/// The observers that record requests.
struct SecretObservers: Sendable {
    private let lines = Shared<[String]>([])
    private let har = HARRecorder()
    private let metrics = RequestMetrics(countsInFlight: true, measuresGates: true)

    /// A log of each level, also with cURL commands, a HAR recorder and metrics.
    var all: [any RequestObserver] {
        let levels: [RequestLog.Level] = [.failures, .summary, .headers, .full]
        let logs = levels.map { level in
            RequestLog(level, curl: true) { [lines] line in lines.change { $0.append(line) } }
        }
        return logs + [har, metrics]
    }

    /// Passes all recorded text to a search.
    func search(with search: SecretSearch) throws {
        search.read("the log", lines.read.joined(separator: "\n"))
        search.read("the HAR file", String(decoding: try har.har().data(), as: UTF8.self))
        search.look("the HAR archive", har.har())
        search.look("the HAR recorder", har)
        let snapshot = metrics.snapshot()
        search.look("the metrics", snapshot)
        search.read("the metrics as JSON", String(decoding: try JSONEncoder().encode(snapshot), as: UTF8.self))
    }

    /// True if the observers have recorded anything.
    var hasRecorded: Bool { !lines.read.isEmpty && !har.har().entries.isEmpty }
}
