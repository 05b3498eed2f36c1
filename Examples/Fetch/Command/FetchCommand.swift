import Fetching

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Downloads files, as many at a time as wanted, and goes on where it stopped the last time.
@main struct FetchCommand {
    static func main() async {
        do {
            switch try Invocation(CommandLine.arguments.dropFirst()) {
            case .help: print(FetchOptions.usage)
            case .fetch(let options): exit(await run(options).rawValue)
            }
        } catch {
            StandardError.write("fetch: \(error)\nfetch --help says how it is used.\n")
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

/// How the command ends.
enum ExitStatus: Int32 {
    case success = 0
    /// A download failed.
    case failure = 1
    /// The command makes no sense (`EX_USAGE`).
    case usage = 64
    /// It was interrupted: as a shell tells of SIGINT.
    case interrupted = 130
}
