/// The arguments of the command.
struct Arguments {
    static let usage = """
        usage: waterfall FILE.har [-o PAGE.html] [--title TITLE]
               waterfall --demo [-o PAGE.html] [--har FILE.har] [--title TITLE]

          FILE.har     an HTTP archive, recorded by Sluice's HARRecorder or a browser's developer tools
          --demo       records a session with a local server, with redirects, retries and failures
          -o PAGE      the path of the page; standard output by default
          --har FILE   the path of the recording
          --title      the title of the page
        """

    private(set) var input: String?
    private(set) var output: String?
    private(set) var archive: String?
    private(set) var title: String?
    private(set) var showsHelp = false
    private var isDemonstration = false

    init(_ arguments: some Sequence<String>) throws(CommandError) {
        var rest = Array(arguments)[...]
        while let argument = rest.popFirst() {
            switch argument {
            case "-o", "--output": output = try value(of: argument, &rest)
            case "--har": archive = try value(of: argument, &rest)
            case "--title": title = try value(of: argument, &rest)
            case "--demo": isDemonstration = true
            case "-h", "--help": showsHelp = true
            default:
                if argument.hasPrefix("-") {
                    throw CommandError(description: "The option \(argument) is unknown.\n\(Self.usage)")
                }
                if input != nil { throw CommandError(description: "Only one file can be given.\n\(Self.usage)") }
                input = argument
            }
        }
        if !showsHelp, (input == nil) != isDemonstration {
            throw CommandError(description: "Give either a file or --demo.\n\(Self.usage)")
        }
    }

    /// The name of the file without directory and extension.
    var defaultTitle: String? {
        guard let input else { return "A session of Sluice" }
        return input.split(separator: "/").last.map { $0.hasSuffix(".har") ? String($0.dropLast(4)) : String($0) }
    }

    private func value(of option: String, _ rest: inout ArraySlice<String>) throws(CommandError) -> String {
        guard let value = rest.popFirst() else {
            throw CommandError(description: "\(option) needs a value.\n\(Self.usage)")
        }
        return value
    }
}
