/// A command line of the form `MODE name=value …`.
package struct Arguments: Sendable {
    /// The measurements.
    package enum Mode: String, CaseIterable, Sendable {
        case rps, download, upload, startup, building, multipart, lenient, gate
        case downloadFile = "download-file"
        case uploadFile = "upload-file"
        case events, storing, opening, sharing, graph, hosts, idle, allocations, requests
    }

    package let mode: Mode
    private let values: [String: String]

    package init(_ words: some Sequence<String>) throws(UsageError) {
        var words = Array(words)
        let name = words.isEmpty ? "" : words.removeFirst()
        guard let mode = Mode(rawValue: name) else {
            let modes = Mode.allCases.map(\.rawValue).joined(separator: ", ")
            throw UsageError(description: "There is no mode '\(name)'; the modes are \(modes).")
        }
        self.mode = mode
        var values: [String: String] = [:]
        for word in words {
            let parts = word.split(separator: "=", maxSplits: 1).map(String.init)
            guard parts.count == 2 else { throw UsageError(description: "'\(word)' is not of the form name=value.") }
            values[parts[0]] = parts[1]
        }
        self.values = values
    }

    /// Returns the value of a required argument.
    package func string(_ name: String) throws(UsageError) -> String {
        guard let value = values[name] else { throw UsageError(description: "\(name)=… is missing.") }
        return value
    }

    /// Returns the value of an optional argument.
    package func optional(_ name: String) -> String? { values[name] }

    /// Returns the value of an argument as a number, or a default if the argument is missing.
    package func number<Number: LosslessStringConvertible>(
        _ name: String,
        default fallback: Number
    ) throws(UsageError) -> Number {
        guard let value = values[name] else { return fallback }
        guard let number = Number(value) else { throw UsageError(description: "\(name)=\(value) is not a number.") }
        return number
    }
}

extension Arguments {
    /// The URL of the server, without a path.
    package var server: String { get throws(UsageError) { try string("server") } }

    /// The number of concurrent requests.
    package var inFlight: Int { get throws(UsageError) { try number("in-flight", default: 1) } }

    /// Host names, `count=` of them, that the client must resolve to 127.0.0.1.
    package var hosts: [String] {
        get throws(UsageError) {
            let count: Int = try number("count", default: 10_000)
            return (0..<max(0, count)).map { "host-\($0).example" }
        }
    }
}

/// An invalid command line.
package struct UsageError: Error, CustomStringConvertible {
    package let description: String

    package init(description: String) {
        self.description = description
    }
}
