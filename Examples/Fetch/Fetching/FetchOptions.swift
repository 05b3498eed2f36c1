/// What the command is told to do.
public struct FetchOptions: Sendable, Equatable {
    /// One file to fetch.
    public struct Item: Sendable, Equatable {
        /// Where it is, without a digest behind it.
        public var url: String
        /// What its bytes must come to, in small hexadecimal digits; nil for anything.
        public var sha256: String?

        /// Makes an item.
        public init(url: String, sha256: String? = nil) {
            self.url = url
            self.sha256 = sha256
        }
    }

    /// A header that goes with every request.
    public struct Header: Sendable, Equatable {
        /// Its name.
        public var name: String
        /// Its value, without white space around it.
        public var value: String

        /// Makes a header.
        public init(name: String, value: String) {
            self.name = name
            self.value = value
        }
    }

    /// How the command tells what it does.
    public enum Report: Sendable, Equatable {
        /// A bar for each file on a terminal, and lines elsewhere.
        case progress
        /// Failures only.
        case quiet
        /// A JSON object a line for each event, on standard output.
        case json
    }

    /// What to fetch, in order.
    public var items: [Item] = []
    /// The file that one download goes to; nil for one named after what it is.
    public var output: String?
    /// Where files go that are named after what they are; nil for the current directory.
    public var directory: String?
    /// How many downloads run at a time.
    public var jobs = 4
    /// In how many segments at a time each file is fetched.
    public var segments = 1
    /// What goes with every request.
    public var headers: [Header] = []
    /// How it is told.
    public var report = Report.progress
    /// Whether a file that is there is replaced; else both are kept.
    public var overwrites = false

    /// Makes options that fetch nothing.
    public init() {}

    /// What `--help` prints.
    public static let usage = """
        usage: fetch [options] URL…

          -o, --output FILE     where the file goes; with one URL only
          -d, --directory DIR   where files go that are named after what they are; the current directory by default
          -j, --jobs N          downloads at a time, 4 by default
              --segments N      segments of each file at a time, 1 by default
              --sha256 HEX      what the file must come to; once for each URL, in their order
          -H, --header FIELD    a header to send, 'Name: value'; as often as needed
              --overwrite       replaces files that are there; without it both are kept
          -q, --quiet           tells of failures only
              --json            prints a JSON object a line for each event
          -h, --help            prints this

        A digest may stand behind a URL as well: https://example.com/film.mkv#sha256=HEX

        A download that was interrupted goes on where it stopped when the same command is given again.

        Ends with 0 when all is well, 1 when a download failed, 64 when the command makes no sense, 130 when it was interrupted.
        """
}
