import Dispatch
import FleetReport

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

/// The standard output, which gets one line of JSON for each event. A line is one write, so lines of several threads do not mix.
struct EventLog: Sendable {
    /// The current time in seconds since 1970.
    static var now: Double { Date().timeIntervalSince1970 }

    func write(_ event: FleetEvent) {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        guard let line = try? encoder.encode(event) else { return }
        FleetCommand.output(String(decoding: line, as: UTF8.self) + "\n", to: STDOUT_FILENO)
    }
}

/// Waits for SIGTERM or Ctrl-C. A second signal ends the process at once.
enum Termination {
    static func wait() async {
        let (signals, continuation) = AsyncStream<Void>.makeStream()
        let numbers = [SIGINT, SIGTERM]
        let sources = numbers.map { DispatchSource.makeSignalSource(signal: $0, queue: .global()) }
        for (source, number) in zip(sources, numbers) {
            source.setEventHandler { continuation.yield() }
            #if canImport(Darwin)
            // A source also sees ignored signals. Ignoring them only disables their default action, as the source itself does on Linux.
            source.setRegistrationHandler { signal(number, SIG_IGN) }
            #endif
            source.activate()
        }
        for await _ in signals { break }
        for source in sources { source.cancel() }
        for number in numbers { signal(number, SIG_DFL) }
    }
}
