import Logging
import Synchronization

/// A log handler that keeps its entries in memory.
struct RecordingLogHandler: LogHandler {
    struct Entry: Sendable {
        let level: Logger.Level
        let message: String
        let metadata: Logger.Metadata

        /// The value of a key as text.
        subscript(key: String) -> String? { metadata[key].map { "\($0)" } }
    }

    final class Log: Sendable {
        private let stored = Mutex<[Entry]>([])

        var entries: [Entry] { stored.withLock { $0 } }

        func append(_ entry: Entry) {
            stored.withLock { $0.append(entry) }
        }
    }

    let log: Log
    var metadata: Logger.Metadata = [:]
    var metadataProvider: Logger.MetadataProvider?
    var logLevel = Logger.Level.trace

    init(_ log: Log, metadataProvider: Logger.MetadataProvider? = nil) {
        self.log = log
        self.metadataProvider = metadataProvider
    }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        let all = metadata.merging(metadataProvider?.get() ?? [:]) { $1 }.merging(event.metadata ?? [:]) { $1 }
        log.append(Entry(level: event.level, message: "\(event.message)", metadata: all))
    }
}
