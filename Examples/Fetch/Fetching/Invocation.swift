/// The action that a command line requests.
public enum Invocation: Sendable, Equatable {
    /// Print the usage text.
    case help
    /// Download files.
    case fetch(FetchOptions)
}

/// An error in a command line, described in a sentence.
public struct UsageError: Error, Equatable, CustomStringConvertible {
    /// The description.
    public let description: String

    /// Creates an error.
    public init(description: String) {
        self.description = description
    }
}

extension Invocation {
    /// Parses a command line.
    ///
    /// - Parameter arguments: The arguments after the name of the command.
    /// - Throws: A ``UsageError``.
    public init(_ arguments: some Sequence<String>) throws(UsageError) {
        var parser = OptionParser(arguments)
        try parser.parse()
        self = parser.wantsHelp ? .help : .fetch(try parser.checked())
    }
}

/// Parses a command line argument by argument.
private struct OptionParser {
    private static let maximumCount = 64
    private static let longNames = ["-o": "--output", "-d": "--directory", "-j": "--jobs", "-H": "--header"]

    private var rest: ArraySlice<String>
    private var options = FetchOptions()
    private var digests: [String] = []
    private(set) var wantsHelp = false

    init(_ arguments: some Sequence<String>) {
        rest = Array(arguments)[...]
    }

    mutating func parse() throws(UsageError) {
        while let word = rest.popFirst() {
            switch word {
            case "--":
                while let url = rest.popFirst() { try add(url) }
            case "-h", "--help": wantsHelp = true
            case "-q", "--quiet": options.report = .quiet
            case "--json": options.report = .json
            case "--overwrite": options.overwrites = true
            case _ where word.hasPrefix("--"): try long(word)
            case _ where word.hasPrefix("-"): try short(word)
            default: try add(word)
            }
        }
    }

    /// Checks that the options fit together, and returns them.
    consuming func checked() throws(UsageError) -> FetchOptions {
        if options.items.isEmpty { throw UsageError("There is no URL to fetch.") }
        if options.output != nil, options.items.count > 1 {
            throw UsageError(
                "--output names one file, but there are \(options.items.count) URLs. Use --directory."
            )
        }
        if options.output != nil, options.directory != nil {
            throw UsageError("--output and --directory cannot be used together.")
        }
        guard digests.isEmpty || digests.count == options.items.count else {
            throw UsageError(
                "There are \(options.items.count) URLs and \(digests.count) --sha256. Give one for each URL."
            )
        }
        for (index, digest) in digests.enumerated() {
            if let known = options.items[index].sha256, known != digest {
                throw UsageError(
                    "The digests of --sha256 and after the URL differ: \(options.items[index].url)"
                )
            }
            options.items[index].sha256 = digest
        }
        return options
    }

    /// Parses `--name VALUE` or `--name=VALUE`.
    private mutating func long(_ word: String) throws(UsageError) {
        let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        let name = String(parts[0])
        try set(name, parts.count > 1 ? String(parts[1]) : nil)
    }

    /// Parses `-o FILE` or `-oFILE`.
    private mutating func short(_ word: String) throws(UsageError) {
        guard let name = OptionParser.longNames[String(word.prefix(2))] else { throw .unknown(word) }
        try set(name, word.count > 2 ? String(word.dropFirst(2)) : nil)
    }

    private mutating func set(_ name: String, _ attached: String?) throws(UsageError) {
        switch name {
        case "--output": options.output = try value(of: name, attached)
        case "--directory": options.directory = try value(of: name, attached)
        case "--jobs": options.jobs = try number(name, attached)
        case "--segments": options.segments = try number(name, attached)
        case "--sha256": digests.append(try digest(try value(of: name, attached)))
        case "--header": options.headers.append(try header(try value(of: name, attached)))
        default: throw .unknown(name)
        }
    }

    private mutating func value(of name: String, _ attached: String?) throws(UsageError) -> String {
        guard let value = attached ?? rest.popFirst(), !value.isEmpty else {
            throw UsageError("\(name) needs a value.")
        }
        return value
    }

    private mutating func number(_ name: String, _ attached: String?) throws(UsageError) -> Int {
        let value = try value(of: name, attached)
        guard let number = Int(value), (1...OptionParser.maximumCount).contains(number) else {
            throw UsageError("\(name) takes a number from 1 to \(OptionParser.maximumCount), not “\(value)”.")
        }
        return number
    }

    private func digest(_ value: String) throws(UsageError) -> String {
        let isDigest = value.utf8.count == 64 && value.utf8.allSatisfy { Character(Unicode.Scalar($0)).isHexDigit }
        guard isDigest else { throw UsageError("“\(value)” is not a SHA-256 digest, which has 64 hexadecimal digits.") }
        return value.lowercased()
    }

    private func header(_ value: String) throws(UsageError) -> FetchOptions.Header {
        guard let colon = value.utf8.firstIndex(of: UInt8(ascii: ":")), colon > value.startIndex else {
            throw UsageError("“\(value)” is not a header of the form 'Name: value'.")
        }
        let text = value[value.utf8.index(after: colon)...].drop { $0 == " " || $0 == "\t" }
        return FetchOptions.Header(name: String(value[..<colon]), value: String(text))
    }

    private mutating func add(_ word: String) throws(UsageError) {
        let scheme = word.prefix { $0 != ":" }.lowercased()
        guard scheme == "http" || scheme == "https", word.dropFirst(scheme.count).hasPrefix("://") else {
            throw UsageError("“\(word)” is not an http or https URL.")
        }
        let prefix = "#sha256="
        guard let start = word.lastStart(of: prefix) else { return options.items.append(.init(url: word)) }
        let digest = try digest(String(word[start...].dropFirst(prefix.count)))
        options.items.append(.init(url: String(word[..<start]), sha256: digest))
    }
}

extension UsageError {
    fileprivate init(_ sentence: String) {
        description = sentence
    }

    fileprivate static func unknown(_ word: String) -> UsageError { UsageError("The option “\(word)” is unknown.") }
}

extension String {
    /// Returns the start of the last occurrence of a text.
    fileprivate func lastStart(of text: String) -> Index? {
        indices.reversed().first { self[$0...].hasPrefix(text) }
    }
}
