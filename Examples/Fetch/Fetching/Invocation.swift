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
    /// - Parameters:
    ///   - arguments: The arguments after the name of the command.
    ///   - read: Returns the text of a file of URLs; of standard input for `-`.
    /// - Throws: A ``UsageError``.
    public init(
        _ arguments: some Sequence<String>,
        reading read: (String) throws(UsageError) -> String
    ) throws(UsageError) {
        let parser = try OptionParser(arguments, read)
        self = parser.wantsHelp ? .help : .fetch(try parser.checked())
    }

    /// Returns true if a command line, which may not be valid, asks for JSON.
    public static func wantsJSON(_ arguments: some Sequence<String>) -> Bool {
        arguments.prefix { $0 != "--" }.contains("--json")
    }
}

/// Parses a command line argument by argument.
private struct OptionParser {
    private static let maximumCount = 64

    private var rest: ArraySlice<String>
    private var options = FetchOptions()
    private var digests: [String] = []
    private var outputs: [String] = []
    private var directory: String?
    private(set) var wantsHelp = false

    init(_ arguments: some Sequence<String>, _ read: (String) throws(UsageError) -> String) throws(UsageError) {
        rest = Array(arguments)[...]
        var files: [(name: String, position: Int)] = []
        while let word = rest.popFirst() {
            switch word {
            case "--":
                while let url = rest.popFirst() { try add(url) }
            case "-": throw .unknown(word)
            case _ where word.hasPrefix("-"):
                if let file = try parse(word) { files.append((file, options.items.count)) }
            default: try add(word)
            }
        }
        // Standard input is read after the rest of the command line has proved valid.
        guard !wantsHelp else { return }
        for file in files.reversed() { try insert(try read(file.name), from: file.name, at: file.position) }
    }

    /// Adds the URLs of a file in the place of the option that names it.
    private mutating func insert(_ text: String, from file: String, at position: Int) throws(UsageError) {
        let later = Array(options.items[position...])
        options.items.removeSubrange(position...)
        for (index, line) in text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).enumerated() {
            let url = line.trimmed
            if url.isEmpty || url.hasPrefix("#") { continue }
            do throws(UsageError) {
                try add(url)
            } catch {
                let name = file == "-" ? "standard input" : "“\(file)”"
                throw UsageError("Line \(index + 1) of \(name): \(error.description)")
            }
        }
        options.items += later
    }

    /// Checks that the options fit together, and returns them.
    consuming func checked() throws(UsageError) -> FetchOptions {
        let count = options.items.count
        if count == 0 { throw UsageError("There is no URL to fetch.") }
        if !outputs.isEmpty, directory != nil {
            throw UsageError("--output and --directory cannot be used together.")
        }
        guard outputs.isEmpty || outputs.count == count else {
            throw UsageError(
                "The number of URLs is \(count), and that of --output \(outputs.count). Give one for each URL, or use --directory."
            )
        }
        for (index, path) in outputs.enumerated() {
            options.items[index].output = ["-", "/dev/stdout"].contains(path) ? .standardOutput : .file(path)
        }
        if options.writesToStandardOutput {
            if count > 1 { throw UsageError("Only one URL can be written to standard output.") }
            if options.report == .json {
                throw UsageError("--json and “--output -” cannot be used together: both write to standard output.")
            }
        }
        var files: Set<String> = []
        for path in outputs where path != "/dev/null" {
            guard files.insert(OptionParser.normalized(path)).inserted else {
                throw UsageError("“\(path)” is the --output of several URLs. Name a file of its own for each.")
            }
        }
        guard digests.isEmpty || digests.count == count else {
            throw UsageError(
                "The number of URLs is \(count), and that of --sha256 \(digests.count). Give one for each URL."
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
        options.directory = directory
        return options
    }

    /// Parses one option: `--name VALUE`, `--name=VALUE`, `-n VALUE`, `-nVALUE`, or letters without values, as in `-qh`.
    ///
    /// - Returns: The name of a file of URLs, if the option names one.
    private mutating func parse(_ word: String) throws(UsageError) -> String? {
        let isLong = word.hasPrefix("--")
        let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        let name = isLong ? String(parts[0]) : String(word.prefix(2))
        guard let option = CommandOption.named(name) else { throw .unknown(isLong ? name : word) }
        let suffix = isLong ? parts.dropFirst().first : word.count > 2 ? word.dropFirst(2) : nil
        let attached = suffix.map { String($0) }
        guard option.value != nil else {
            if isLong, attached != nil { throw UsageError("\(name) takes no value.") }
            setFlag(option.long)
            if !isLong, let attached { return try parse("-\(attached)") }
            return nil
        }
        guard let value = attached ?? rest.popFirst(), !value.isEmpty else {
            throw UsageError("\(option.long) needs a value.")
        }
        if option.long == "--input-file" { return value }
        try set(option.long, value)
        return nil
    }

    /// Returns a path without empty segments and those that are a dot, so that two texts of one path are equal.
    private static func normalized(_ path: String) -> String {
        let segments = path.split(separator: "/").filter { $0 != "." }
        return (path.hasPrefix("/") ? "/" : "") + segments.joined(separator: "/")
    }

    private mutating func setFlag(_ name: String) {
        switch name {
        case "--help": wantsHelp = true
        case "--quiet": options.isQuiet = true
        case "--json": options.report = .json
        default: options.overwrites = true
        }
    }

    private mutating func set(_ name: String, _ value: String) throws(UsageError) {
        switch name {
        case "--output": outputs.append(value)
        case "--directory": directory = value
        case "--jobs": options.jobs = try number(name, value)
        case "--segments": options.segments = try number(name, value)
        case "--limit-rate": options.rateLimit = try rate(value)
        case "--sha256": digests.append(try digest(value))
        case "--header": options.headers.append(try header(value))
        default: throw .unknown(name)
        }
    }

    private func number(_ name: String, _ value: String) throws(UsageError) -> Int {
        guard let number = Int(value), (1...OptionParser.maximumCount).contains(number) else {
            throw UsageError("\(name) takes a number from 1 to \(OptionParser.maximumCount), not “\(value)”.")
        }
        return number
    }

    private func rate(_ value: String) throws(UsageError) -> ByteRate {
        guard let rate = ByteRate(value) else {
            throw UsageError("--limit-rate takes bytes a second, such as 500k or 1.5M, not “\(value)”.")
        }
        return rate
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

extension Substring {
    /// The text without white space at its ends.
    fileprivate var trimmed: String {
        var text = drop(while: \.isWhitespace)
        while text.last?.isWhitespace == true { text.removeLast() }
        return String(text)
    }
}

extension String {
    /// Returns the start of the last occurrence of a text.
    fileprivate func lastStart(of text: String) -> Index? {
        indices.reversed().first { self[$0...].hasPrefix(text) }
    }
}
