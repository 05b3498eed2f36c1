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
            switch try Invocation(CommandLine.arguments.dropFirst()) {
            case .help: print(FetchOptions.usage)
            case .fetch(let options): exit(await run(options).rawValue)
            }
        } catch {
            StandardError.write("fetch: \(error)\nRun “fetch --help” for usage.\n")
            exit(ExitStatus.usage.rawValue)
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
