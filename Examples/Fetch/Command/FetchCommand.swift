import Fetching

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

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
        Descriptor.reserveStandardDescriptors()
        do throws(UsageError) {
            switch try Invocation(try arguments(), reading: InputFile.text) {
            case .help: printUsage()
            case .fetch(let options):
                try checkFolder(for: options)
                await run(options)
            }
        } catch {
            report(error)
            exit(ExitStatus.usage.rawValue)
        }
    }

    private static func printUsage() {
        do throws(Descriptor.Failure) {
            try Descriptor.standardOutput.write(Data("\(FetchOptions.usage)\n".utf8))
        } catch {
            Descriptor.standardError.write("fetch: The usage could not be written: \(error).\n")
            exit(ExitStatus.failure.rawValue)
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
        let isRelative = options.items.contains { item in
            switch item.output {
            case .standardOutput: false
            case .file(let path): !path.hasPrefix("/")
            case .named: options.directory?.hasPrefix("/") != true
            }
        }
        guard isRelative, let folder = getcwd(nil, 0) else { return }
        defer { free(folder) }
        if String(validatingCString: folder) == nil {
            throw UsageError(description: "The name of the working folder is not valid UTF-8. Name a folder with -d.")
        }
    }

    /// Reports an error in the command line: as JSON if the command line asks for that.
    private static func report(_ error: UsageError) {
        if Invocation.wantsJSON(CommandLine.arguments.dropFirst()) {
            var event = DownloadEvent(.failed)
            event.code = "usage"
            event.reason = error.description
            try? event.write()
        } else {
            Descriptor.standardError.write("fetch: \(PlainText.of(error.description))\nRun “fetch --help” for usage.\n")
        }
    }

    /// Runs the downloads and ends the process.
    private static func run(_ options: FetchOptions) async {
        // A write to a pipe without a reader then fails, and does not end the process before the downloads have been stopped.
        signal(SIGPIPE, SIG_IGN)
        let reporter = Reporter(options)
        let downloads = Downloads(options, reporter)
        let (start, permission) = AsyncStream.makeStream(of: Void.self)
        let work = Task {
            for await _ in start { break }
            return await downloads.run()
        }
        await reporter.onOutputFailure { work.cancel() }
        let interruption = await Interruption(
            {
                reporter.interrupt()
                work.cancel()
            },
            onContinue: { Task { await reporter.continued() } }
        )
        permission.yield()
        let failures = await work.value
        if let number = interruption.signalNumber {
            await reporter.interrupted(number == SIGTERM ? "terminated" : "interrupted")
            Interruption.end(by: number)
        }
        if let failure = await reporter.outputFailure {
            if failure.isBrokenPipe { Interruption.end(by: SIGPIPE) }
            Descriptor.standardError.write("fetch: The events could not be written: \(failure).\n")
            exit(ExitStatus.failure.rawValue)
        }
        exit((failures == 0 ? ExitStatus.success : .failure).rawValue)
    }
}
