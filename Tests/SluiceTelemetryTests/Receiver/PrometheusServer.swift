import Foundation
import SluiceTesting
import Synchronization

/// A Prometheus that scrapes two pages five times a second.
final class PrometheusServer {
    private static let path = "/usr/bin/prometheus"

    static var canRun: Bool {
        ProcessInfo.processInfo.environment["SLUICE_REQUIRE_SERVERS"] == "1"
            || FileManager.default.isExecutableFile(atPath: path)
    }

    struct Failure: Error {
        let output: String
    }

    private let process: Process
    private let folder: URL
    let url: String

    /// Starts a server.
    ///
    /// - Parameter targets: The host and port of each server with a page `/metrics`.
    /// - Throws: A failure with the output of the program.
    init(targets: [String]) throws {
        folder = FileManager.default.temporaryDirectory.appending(path: "sluice-prometheus-\(UUID())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let configuration = """
            global:
              scrape_interval: 200ms
            scrape_configs:
              - job_name: shop
                static_configs:
                  - targets: \(targets)
            """
        try Data(configuration.utf8).write(to: folder.appending(path: "prometheus.yml"))
        var failure = Failure(output: "")
        for _ in 0..<5 {
            // Another program may take the port before the server does.
            let url = try LoopbackServer().url
            do {
                process = try Self.start(in: folder, at: String(url.dropFirst("http://".count)))
                self.url = url
                return
            } catch let error as Failure { failure = error }
        }
        throw failure
    }

    deinit {
        kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
        try? FileManager.default.removeItem(at: folder)
    }

    private static func start(in folder: URL, at address: String) throws -> Process {
        let process = Process()
        let output = Pipe()
        process.executableURL = URL(filePath: path)
        process.arguments = [
            "--config.file=\(folder.path)/prometheus.yml", "--storage.tsdb.path=\(folder.path)/data",
            "--web.listen-address=\(address)", "--enable-feature=native-histograms",
        ]
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = FileHandle.nullDevice
        process.standardError = output
        try process.run()
        var text = ""
        while !text.contains("Server is ready to receive web requests") {
            let more = output.fileHandleForReading.nextBytes()
            guard !more.isEmpty else { throw Failure(output: text) }
            text += String(decoding: more, as: UTF8.self)
        }
        Thread.detachNewThread { while !output.fileHandleForReading.nextBytes().isEmpty {} }
        return process
    }
}
