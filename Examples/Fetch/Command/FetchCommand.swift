import Fetching

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Downloads several files at a time and resumes downloads that an earlier run left unfinished.
@main struct FetchCommand {
    static func main() async {
        do {
            switch try Invocation(try arguments()) {
            case .help: print(FetchOptions.usage)
            case .fetch(let options):
                try checkFolder(for: options)
                exit(await run(options).rawValue)
            }
        } catch {
            StandardError.write("fetch: \(PlainText.of("\(error)"))\nRun “fetch --help” for usage.\n")
            exit(ExitStatus.usage.rawValue)
        }
    }

    /// Returns the arguments. Those that are not valid UTF-8 are refused, because their text would name another file.
    private static func arguments() throws(UsageError) -> [String] {
        var arguments: [String] = []
        for index in 1..<max(1, Int(CommandLine.argc)) {
            guard let argument = CommandLine.unsafeArgv[index].flatMap({ String(validatingCString: $0) }) else {
                throw UsageError(description: "Argument \(index) is not valid UTF-8.")
            }
            arguments.append(argument)
        }
        return arguments
    }

    /// Refuses a relative destination in a working folder whose name is not valid UTF-8.
    private static func checkFolder(for options: FetchOptions) throws(UsageError) {
        if (options.output ?? options.directory)?.hasPrefix("/") == true { return }
        guard let folder = getcwd(nil, 0) else { return }
        defer { free(folder) }
        if String(validatingCString: folder) == nil {
            throw UsageError(description: "The name of the working folder is not valid UTF-8. Name a folder with -d.")
        }
    }

    private static func run(_ options: FetchOptions) async -> ExitStatus {
        let reporter = Reporter(options)
        let work = Task { await Downloads(options, reporter).run() }
        let interruption = Interruption { work.cancel() }
        let failures = await work.value
        if interruption.hasHappened {
            await reporter.interrupted()
            return .interrupted
        }
        return failures == 0 ? .success : .failure
    }
}

/// The exit status of the command.
enum ExitStatus: Int32 {
    case success = 0
    /// A download failed.
    case failure = 1
    /// The command line is invalid (`EX_USAGE`).
    case usage = 64
    /// The command was interrupted: 128 plus the number of SIGINT, as shells report it.
    case interrupted = 130
}
