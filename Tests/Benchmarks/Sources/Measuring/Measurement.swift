#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// The measurement that the command line requests.
package enum Measurement {
    /// Measures, prints the figures as `name=value …` in one line, and exits the process.
    package static func main<Client: Competitor>(_ type: Client.Type) async -> Never {
        do {
            let arguments = try Arguments(CommandLine.arguments.dropFirst())
            let client = try await Client(arguments)
            let figures = try await measure(client, arguments)
            print(figures.map { "\($0.key)=\($0.value)" }.joined(separator: " "))
            // The client lives as long as the process, as a shared client does, and is not shut down.
            withExtendedLifetime(client) { exit(0) }
        } catch let error as UsageError {
            printError("\(error)")
            exit(64)
        } catch {
            printError("\(type) failed: \(error)")
            exit(1)
        }
    }

    private static func printError(_ message: String) {
        _ = Array((message + "\n").utf8).withUnsafeBytes { write(STDERR_FILENO, $0.baseAddress, $0.count) }
    }

    private static func measure(
        _ client: some Competitor,
        _ arguments: Arguments
    ) async throws -> KeyValuePairs<String, Double> {
        let clock = ContinuousClock()
        let length: Int = try arguments.number("length", default: 256 << 20)
        switch arguments.mode {
        case .rps:
            let outcome = try await measureLoad(client, arguments)
            return [
                "rps": Double(outcome.requests) / outcome.seconds,
                "cpu": outcome.cpuSeconds / Double(outcome.requests) * 10_000,
                "rss": ResourceUsage.peakMiB,
            ]
        case .download:
            let start = clock.now
            let count = try await client.download(arguments.optional("path") ?? "/file")
            let seconds = (clock.now - start) / .seconds(1)
            guard count == length else { throw Unexpected(description: "received \(count) bytes, not \(length)") }
            return ["seconds": seconds, "rss": ResourceUsage.peakMiB]
        case .upload:
            let upload = Upload(path: try arguments.string("path"), length: length, file: try arguments.string("file"))
            let start = clock.now
            try await client.upload(upload)
            let seconds = (clock.now - start) / .seconds(1)
            return ["seconds": seconds, "rss": ResourceUsage.peakMiB]
        case .downloadFile, .uploadFile:
            return try await measureFile(client, arguments)
        case .events:
            let start = clock.now
            let wanted: Int = try arguments.number("count", default: 1)
            guard let count = try await client.events(at: try arguments.string("path"), upTo: wanted) else {
                throw Unexpected(description: "the client does not support events")
            }
            guard count == wanted else { throw Unexpected(description: "there were \(count) events, not \(wanted)") }
            return ["rate": Double(count) / ((clock.now - start) / .seconds(1))]
        case .storing, .opening:
            return try await measureCache(client, arguments)
        case .startup:
            _ = try await client.user()
            if arguments.optional("libraries") != nil { return ["libraries": Double(ResourceUsage.libraries.count)] }
            return ["rss": ResourceUsage.peakMiB]
        case .building:
            return try measureBuilding(client)
        case .lenient:
            return try measureLenient(client)
        case .gate:
            let count: Int = try arguments.number("waiting", default: 1000)
            guard let release = try await client.release(count) else {
                throw Unexpected(description: "the client has no gates")
            }
            guard release.satisfactions == 1 else {
                throw Unexpected(description: "the gate was satisfied \(release.satisfactions) times")
            }
            return ["milliseconds": release.time / .milliseconds(1)]
        case .sharing, .graph:
            return try await measureComposition(client, arguments)
        case .hosts:
            return try await measureHosts(client, arguments)
        case .idle:
            return try await measureIdle(client, arguments)
        case .allocations:
            return try await measureAllocations(client)
        case .requests:
            // For programs that count the instructions of the process.
            let count: Int = try arguments.number("count", default: 1)
            for _ in 0..<count { try Unexpected.check(try await client.user()) }
            return ["requests": Double(count)]
        case .multipart:
            let files = try arguments.string("files").split(separator: ",").map(String.init)
            let start = clock.now
            guard try await client.multipart(files, path: try arguments.string("path")) != nil else {
                throw Unexpected(description: "the client has no multipart forms")
            }
            return ["seconds": (clock.now - start) / .seconds(1), "rss": ResourceUsage.peakMiB]
        }
    }

    /// Counts the allocations of requests that follow each other on one connection.
    private static func measureAllocations(_ client: some Competitor) async throws -> KeyValuePairs<String, Double> {
        let count = 1000
        for _ in 0..<count { _ = try await client.user() }
        guard let before = ResourceUsage.allocations else {
            throw Unexpected(description: "counting.so is not preloaded")
        }
        for _ in 0..<count { _ = try await client.user() }
        let after = ResourceUsage.allocations ?? before
        return ["allocations": Double(after - before) / Double(count)]
    }

    private static func measureCache(
        _ client: some Competitor,
        _ arguments: Arguments
    ) async throws -> KeyValuePairs<String, Double> {
        let folder = try arguments.string("folder")
        let count: Int = try arguments.number("count", default: 50_000)
        if arguments.mode == .opening, let times = try await client.open(count, in: folder) {
            return ["milliseconds": times.opening / .milliseconds(1), "step": times.step / .milliseconds(1)]
        }
        let start = ContinuousClock.now
        if arguments.mode == .storing, try await client.store(count, in: folder) == true {
            return ["rate": Double(count) / ((ContinuousClock.now - start) / .seconds(1))]
        }
        throw Unexpected(description: "the client has no cache")
    }

    private static func measureFile(
        _ client: some Competitor,
        _ arguments: Arguments
    ) async throws -> KeyValuePairs<String, Double> {
        let file = try arguments.string("file")
        let path = try arguments.string("path")
        let start = ContinuousClock.now
        let outcome =
            arguments.mode == .uploadFile
            ? try await client.upload(file: file, to: path)
            : try await client.download(path, to: file, isWatched: arguments.optional("watched") != nil)
        guard outcome != nil else { throw Unexpected(description: "the client has no file transfers") }
        return ["seconds": (ContinuousClock.now - start) / .seconds(1), "rss": ResourceUsage.peakMiB]
    }

    private static func measureLoad(_ client: some Competitor, _ arguments: Arguments) async throws -> Load.Outcome {
        let load = Load(inFlight: try arguments.inFlight)
        let seconds: Double = try arguments.number("seconds", default: 2)
        let path = arguments.optional("path")
        let length: Int = try arguments.number("length", default: 0)
        let isStreamed = arguments.optional("streamed") != nil
        let request: @Sendable () async throws -> Void = {
            guard let path else { return try Unexpected.check(try await client.user()) }
            let count = try await isStreamed ? client.download(path) : client.fetch(path)
            guard count == length else { throw Unexpected(description: "received \(count) bytes, not \(length)") }
        }
        _ = try await load.run(for: .seconds(seconds / 4), request)
        return try await load.run(for: .seconds(seconds), request)
    }
}

/// A result that differs from the expected one.
package struct Unexpected: Error, CustomStringConvertible {
    package let description: String

    package init(description: String) {
        self.description = description
    }

    /// Throws if a status is not a success.
    package static func check(status: Int) throws {
        guard (200..<300).contains(status) else { throw Unexpected(description: "the status was \(status)") }
    }

    /// Throws if a user differs from the one in `/user.json`.
    package static func check(_ user: User) throws {
        guard user.id == 583_231 else { throw Unexpected(description: "the user was \(user)") }
    }
}
