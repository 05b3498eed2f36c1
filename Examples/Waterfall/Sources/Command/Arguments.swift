/// The arguments of the command.
struct Arguments {
    /// The recordings to draw.
    enum Source: Equatable {
        case demonstration
        case file(String)
        case comparison(before: String, after: String)
    }

    static let usage = """
        usage: waterfall FILE.har [-o PAGE.html] [--title TITLE]
               waterfall BEFORE.har AFTER.har [-o PAGE.html] [--title TITLE]
               waterfall --demo [-o PAGE.html] [--har FILE.har] [--title TITLE]

          FILE.har     an HTTP archive, recorded by Sluice's HARRecorder, a browser's developer tools or a proxy
          BEFORE AFTER two recordings to compare: requests with the same method and URL are drawn in one row
          --demo       records a session with a local server, with redirects, retries and failures
          -o PAGE      the path of the page; standard output by default
          --har FILE   the path of the recording of --demo
          --title      the title of the page
        """

    private(set) var source = Source.demonstration
    private(set) var output: String?
    private(set) var archive: String?
    private(set) var title: String?
    private(set) var showsHelp = false

    init(_ arguments: some Sequence<String>) throws(UsageError) {
        var rest = Array(arguments)[...]
        var files: [String] = []
        var isDemonstration = false
        while let argument = rest.popFirst() {
            switch argument {
            case "-o", "--output": output = try value(of: argument, &rest)
            case "--har": archive = try value(of: argument, &rest)
            case "--title": title = try value(of: argument, &rest)
            case "--demo": isDemonstration = true
            case "-h", "--help": showsHelp = true
            default:
                if argument.hasPrefix("-") {
                    throw UsageError(reason: "The option \(argument) is unknown.")
                }
                files.append(argument)
            }
        }
        switch files.count {
        case _ where showsHelp: break
        case 0 where isDemonstration: source = .demonstration
        case 1 where !isDemonstration: source = .file(files[0])
        case 2 where !isDemonstration: source = .comparison(before: files[0], after: files[1])
        default: throw UsageError(reason: "Give one file, two files or --demo.")
        }
        if archive != nil, source != .demonstration {
            throw UsageError(reason: "--har needs --demo.")
        }
    }

    /// The names of the files without directory and extension.
    var defaultTitle: String {
        switch source {
        case .demonstration: "A session of Sluice"
        case .file(let path): Self.name(path)
        case .comparison(let before, let after): "\(Self.name(before)) → \(Self.name(after))"
        }
    }

    private static func name(_ path: String) -> String {
        let name = path.split(separator: "/").last.map(String.init) ?? path
        return name.hasSuffix(".har") ? String(name.dropLast(4)) : name
    }

    private func value(of option: String, _ rest: inout ArraySlice<String>) throws(UsageError) -> String {
        guard let value = rest.popFirst() else {
            throw UsageError(reason: "\(option) needs a value.")
        }
        return value
    }
}

/// An error in the command line, described in a sentence before the usage.
struct UsageError: Error, CustomStringConvertible {
    let reason: String

    var description: String { "\(reason)\n\(Arguments.usage)" }
}
