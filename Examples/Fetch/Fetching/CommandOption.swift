/// An option of the command line. The parser, the usage text and the tests of the manual read the options from ``all``.
public struct CommandOption: Sendable, Equatable {
    /// The name with two hyphens.
    public let long: String
    /// The name with one hyphen and one letter, if there is one.
    public let short: String?
    /// The placeholder of the value; nil for an option without a value.
    public let value: String?
    /// The explanation in the usage text.
    public let explanation: String

    private init(_ long: String, _ short: String? = nil, _ value: String? = nil, _ explanation: String) {
        self.long = long
        self.short = short
        self.value = value
        self.explanation = explanation
    }

    /// The options in the order of the usage text.
    public static let all = [
        CommandOption("--output", "-o", "FILE", "the file, or - for standard output; once for each URL"),
        CommandOption("--directory", "-d", "DIR", "the directory for files named after content or URL"),
        CommandOption("--input-file", "-i", "FILE", "a file of URLs, one a line; - for standard input"),
        CommandOption("--jobs", "-j", "N", "downloads at a time; 4 by default"),
        CommandOption("--segments", nil, "N", "segments of a file at a time; 1 by default"),
        CommandOption("--limit-rate", nil, "RATE", "bytes a second in total, such as 500k or 1.5M"),
        CommandOption("--sha256", nil, "HEX", "the expected SHA-256; once for each URL, in order"),
        CommandOption("--header", "-H", "FIELD", "a header to send, 'Name: value'; can be repeated"),
        CommandOption("--overwrite", nil, nil, "replaces existing files; by default, both are kept"),
        CommandOption("--quiet", "-q", nil, "reports failures only"),
        CommandOption("--json", nil, nil, "prints each event as a JSON object on a line"),
        CommandOption("--help", "-h", nil, "prints this help"),
    ]

    /// Returns the option with a short or long name.
    static func named(_ name: String) -> CommandOption? {
        all.first { $0.long == name || $0.short == name }
    }

    /// The names and the placeholder: `-o, --output FILE`.
    public var synopsis: String {
        "\(short.map { "\($0), " } ?? "    ")\(long)\(value.map { " \($0)" } ?? "")"
    }
}

/// The exit status of the command.
public enum ExitStatus: Int32, Sendable, CaseIterable {
    /// All downloads succeeded.
    case success = 0
    /// A download failed, or its events could not be written.
    case failure = 1
    /// The command line is not valid (`EX_USAGE`).
    case usage = 64
    /// SIGINT ended the command. Shells report 128 plus the number of the signal.
    case interrupted = 130
    /// SIGPIPE ended the command: the reader of standard output has gone.
    case brokenPipe = 141
    /// SIGTERM ended the command.
    case terminated = 143

    /// The explanation in the usage text.
    public var explanation: String {
        switch self {
        case .success: "all downloads succeeded"
        case .failure: "a download failed"
        case .usage: "the command line is not valid"
        case .interrupted: "interrupted by Ctrl-C (SIGINT)"
        case .brokenPipe: "the reader of standard output has gone (SIGPIPE)"
        case .terminated: "terminated (SIGTERM)"
        }
    }
}

extension FetchOptions {
    /// The text that `--help` prints.
    public static var usage: String {
        let width = CommandOption.all.map(\.synopsis.count).max() ?? 0
        let options = CommandOption.all.map { option in
            "  \(option.synopsis)\(String(repeating: " ", count: width + 2 - option.synopsis.count))\(option.explanation)"
        }
        let statuses = ExitStatus.allCases.map { status in
            "  \(status.rawValue)\(String(repeating: " ", count: 5 - "\(status.rawValue)".count))\(status.explanation)"
        }
        return """
            usage: fetch [options] URL…

            \(options.joined(separator: "\n"))

            A digest can also follow a URL: https://example.com/film.mkv#sha256=HEX

            An interrupted download of a file continues where it stopped when the
            same command is run again.

            exit status:
            \(statuses.joined(separator: "\n"))
            """
    }
}
