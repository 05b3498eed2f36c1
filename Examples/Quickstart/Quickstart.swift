import Sluice

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Sends a few typed requests to a local server, or fetches the URL in the first argument.
@main struct Quickstart {
    static func main() async {
        do {
            if let url = CommandLine.arguments.dropFirst().first {
                try await fetch(url)
            } else {
                try await tour()
            }
        } catch {
            let line = Array("✗ \(error)\n".utf8)
            _ = write(STDERR_FILENO, line, line.count)
            exit(EXIT_FAILURE)
        }
    }
}
