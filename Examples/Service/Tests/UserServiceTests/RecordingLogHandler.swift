import Logging
import Synchronization

/// A log handler that keeps its messages in memory.
struct RecordingLogHandler: LogHandler {
    final class Log: Sendable {
        private let stored = Mutex<[String]>([])

        var messages: [String] { stored.withLock { $0 } }

        func append(_ message: String) {
            stored.withLock { $0.append(message) }
        }
    }

    let log: Log
    var metadata: Logger.Metadata = [:]
    var logLevel = Logger.Level.warning

    init(_ log: Log) {
        self.log = log
    }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        log.append("\(event.message)")
    }
}
