import Sluice

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Runs a few typed requests against a server of its own; with a URL as argument, fetches that instead.
@main struct Quickstart {
    static func main() async {
        do {
            if let url = CommandLine.arguments.dropFirst().first {
                try await fetch(url)
            } else {
                try await tour()
            }
        } catch {
            print("✗ \(error)")
            exit(EXIT_FAILURE)
        }
    }
}
