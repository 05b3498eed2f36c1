/// The options of the command.
public struct FetchOptions: Sendable, Equatable {
    /// The place for the content of a download.
    public enum Output: Sendable, Equatable {
        /// A file in ``FetchOptions/directory``, named after its content or URL.
        case named
        /// The file at a path.
        case file(String)
        /// Standard output.
        case standardOutput
    }

    /// One file to download.
    public struct Item: Sendable, Equatable {
        /// The URL of the file, without the digest after it.
        public var url: String
        /// The expected SHA-256 digest in lowercase hexadecimal digits; nil to accept any content.
        public var sha256: String?
        /// The place for the content.
        public var output: Output

        /// Creates an item.
        public init(url: String, sha256: String? = nil, output: Output = .named) {
            self.url = url
            self.sha256 = sha256
            self.output = output
        }

        /// A display name until the file has a name: the name of the file that the command line gives, or the decoded last
        /// segment of the URL's path, or the URL if that is empty.
        public var name: String {
            if case .file(let path) = output, let name = path.split(separator: "/").last { return String(name) }
            let path = url.prefix { $0 != "?" && $0 != "#" }.split(separator: "/", omittingEmptySubsequences: false)
            guard path.count > 3, let last = path.last, !last.isEmpty else { return url }
            return PercentEncodedText.decoded(last)
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

    /// The forms of reports.
    public enum Report: Sendable, Equatable {
        /// Text on standard error: a progress bar for each file on a terminal, and lines elsewhere.
        case text
        /// One JSON object a line for each event, on standard output.
        case json
    }

    /// The files to download, in order.
    public var items: [Item] = []
    /// The directory for files named after their content or URL; nil for the current directory.
    public var directory: String?
    /// The number of downloads that run at a time.
    public var jobs = 4
    /// The number of segments of a file that are downloaded at a time.
    public var segments = 1
    /// The maximum rate of all downloads together; nil for no limit.
    public var rateLimit: ByteRate?
    /// The header fields that are sent with every request.
    public var headers: [Header] = []
    /// The form of reports.
    public var report = Report.text
    /// True if only failures are reported.
    public var isQuiet = false
    /// True if an existing file is replaced. Otherwise both are kept.
    public var overwrites = false

    /// Creates options without any files.
    public init() {}

    /// True if a download is written to standard output.
    public var writesToStandardOutput: Bool { items.contains { $0.output == .standardOutput } }
}
