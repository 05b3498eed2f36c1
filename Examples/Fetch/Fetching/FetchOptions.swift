/// The options of the command.
public struct FetchOptions: Sendable, Equatable {
    /// One file to download.
    public struct Item: Sendable, Equatable {
        /// The URL of the file, without the digest after it.
        public var url: String
        /// The expected SHA-256 digest in lowercase hexadecimal digits; nil to accept any content.
        public var sha256: String?

        /// Creates an item.
        public init(url: String, sha256: String? = nil) {
            self.url = url
            self.sha256 = sha256
        }

        /// A display name until the file has a name: the last segment of the URL's path, or the URL if that is empty.
        public var name: String {
            let path = url.prefix { $0 != "?" && $0 != "#" }.split(separator: "/", omittingEmptySubsequences: false)
            return path.count > 3 && path.last?.isEmpty == false ? String(path.last ?? "") : url
        }
    }

    /// A header field that is sent with every request.
    public struct Header: Sendable, Equatable {
        /// The field name.
        public var name: String
        /// The field value, without surrounding white space.
        public var value: String

        /// Creates a header field.
        public init(name: String, value: String) {
            self.name = name
            self.value = value
        }
    }

    /// The ways to report progress.
    public enum Report: Sendable, Equatable {
        /// A progress bar for each file on a terminal, and lines elsewhere.
        case progress
        /// Only failures.
        case quiet
        /// One JSON object a line for each event, on standard output.
        case json
    }

    /// The files to download, in order.
    public var items: [Item] = []
    /// The path for a single download; nil to name the file after its content or URL.
    public var output: String?
    /// The directory for files named after their content or URL; nil for the current directory.
    public var directory: String?
    /// The number of downloads that run at a time.
    public var jobs = 4
    /// The number of segments of a file that are downloaded at a time.
    public var segments = 1
    /// The header fields that are sent with every request.
    public var headers: [Header] = []
    /// The way to report progress.
    public var report = Report.progress
    /// True if an existing file is replaced. Otherwise both are kept.
    public var overwrites = false

    /// Creates options without any files.
    public init() {}

    /// The text that `--help` prints.
    public static let usage = """
        usage: fetch [options] URL…

          -o, --output FILE     the path of the file; with one URL only
          -d, --directory DIR   the directory for files named after their content or URL; the current directory by default
          -j, --jobs N          downloads at a time, 4 by default
              --segments N      segments of each file at a time, 1 by default
              --sha256 HEX      the expected SHA-256 of the file; once for each URL, in the same order
          -H, --header FIELD    a header to send, 'Name: value'; can be repeated
              --overwrite       replaces existing files; without it both are kept
          -q, --quiet           reports failures only
              --json            prints one JSON object per line for each event
          -h, --help            prints this help

        A digest can also follow a URL: https://example.com/film.mkv#sha256=HEX

        An interrupted download continues where it stopped when the same command is run again.

        The exit status is 0 on success, 1 if a download failed, 64 if the command line is not valid, and 130 if the command was interrupted.
        """
}
