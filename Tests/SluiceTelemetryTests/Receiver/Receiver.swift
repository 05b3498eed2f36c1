import Foundation
import Sluice
import SluiceTelemetry

/// A collector in Python, with the packages in `requirements.txt`, in the Python that `SLUICE_PYTHON` names.
final class Receiver {
    private static let environment = ProcessInfo.processInfo.environment
    private static let python = environment["SLUICE_PYTHON"]

    static var canRun: Bool {
        environment["SLUICE_REQUIRE_SERVERS"] == "1"
            || python.map { FileManager.default.isExecutableFile(atPath: $0) } ?? false
    }

    struct Failure: Error {
        let output: String
    }

    private let process = Process()
    let url: String

    init() throws {
        guard let python = Self.python else { throw Failure(output: "SLUICE_PYTHON is not set; .ci/run sets it") }
        let script = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "receiver.py")
        let output = Pipe()
        process.executableURL = URL(filePath: python)
        process.arguments = ["-u", script.path]
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = output
        process.standardError = output
        try process.run()
        var text = ""
        while !text.hasPrefix("ready ") || !text.hasSuffix("\n") {
            let more = output.fileHandleForReading.nextBytes()
            guard !more.isEmpty else { throw Failure(output: text) }
            text += String(decoding: more, as: UTF8.self)
        }
        Thread.detachNewThread { while !output.fileHandleForReading.nextBytes().isEmpty {} }
        url = "http://127.0.0.1:\(text.dropFirst(6).dropLast())"
    }

    deinit {
        kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
    }

    /// The exports that arrived, decoded.
    func received() async throws -> [JSON] {
        try await APIClient(baseURL: url).json.get("received").sender().value.arrayValue
    }

    /// The families of metrics of a page, as the parser of Prometheus reads it.
    ///
    /// - Parameters:
    ///   - page: The page.
    ///   - format: Its format, `openmetrics` or `prometheus`.
    /// - Returns: The families.
    /// - Throws: The error of the request, if the parser refuses the page.
    func families(_ page: String, as format: String) async throws -> [JSON] {
        try await APIClient(baseURL: url).json.post(format).data(Data(page.utf8)).sender().value.arrayValue
    }

    /// A configuration that exports to this collector.
    func configuration(_ manner: String = "plain", _ change: (inout TelemetryConfiguration) -> Void = { _ in })
        -> TelemetryConfiguration
    {
        var configuration = TelemetryConfiguration(environment: ["OTEL_EXPORTER_OTLP_ENDPOINT": "\(url)/\(manner)"])
        configuration.serviceName = "shop"
        change(&configuration)
        return configuration
    }
}

/// Not in the extension, where `read` is a method.
private func readBytes(_ descriptor: Int32, _ buffer: UnsafeMutableRawPointer, _ length: Int) -> Int {
    read(descriptor, buffer, length)
}

extension FileHandle {
    /// Returns the next bytes of a pipe; empty at the end. `availableData` ends the process if a signal interrupts it.
    func nextBytes() -> Data {
        var bytes = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let count = readBytes(fileDescriptor, &bytes, bytes.count)
            if count >= 0 { return Data(bytes[..<count]) }
            if errno != EINTR { return Data() }
        }
    }
}
