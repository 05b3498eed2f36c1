import Sluice
import WaterfallPage

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

/// Converts an HTTP archive, two of them, or a live session to a page.
@main struct WaterfallCommand {
    static func main() async {
        do {
            let arguments = try Arguments(CommandLine.arguments.dropFirst())
            if arguments.showsHelp { return try output("\(Arguments.usage)\n") }
            let page = try await page(arguments)
            if let path = arguments.output {
                try save(Data(page.utf8), to: path)
            } else {
                try output(page)
            }
        } catch {
            let line = Array("waterfall: \(error)\n".utf8)
            _ = write(STDERR_FILENO, line, line.count)
            exit(error is UsageError ? EX_USAGE : EXIT_FAILURE)
        }
    }

    private static func page(_ arguments: Arguments) async throws -> String {
        let title = arguments.title ?? arguments.defaultTitle
        switch arguments.source {
        case .demonstration:
            let har = try await Demonstration().recording()
            if let path = arguments.archive { try save(try har.data(), to: path) }
            return WaterfallPage(har, title: title).html
        case .file(let path):
            let archive = try archive(path)
            return WaterfallPage(archive.har, title: title, remarks: archive.remarks).html
        case .comparison(let before, let after):
            return ComparisonPage(before: try archive(before), after: try archive(after), title: title).html
        }
    }

    private static func archive(_ path: String) throws(CommandError) -> Archive {
        let data: Data
        do {
            data = try Data(contentsOf: URL(filePath: path))
        } catch {
            throw CommandError(description: "“\(path)” cannot be read.")
        }
        do throws(ArchiveError) {
            return try Archive(parsing: data)
        } catch {
            throw CommandError(description: "“\(path)”: \(error)")
        }
    }

    /// Writes a text to standard output.
    private static func output(_ text: String) throws(CommandError) {
        var bytes = Array(text.utf8)[...]
        while !bytes.isEmpty {
            let count = bytes.withUnsafeBytes { write(STDOUT_FILENO, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else {
                let reason = String(cString: strerror(errno))
                throw CommandError(description: "Standard output cannot be written: \(reason).")
            }
            bytes = bytes.dropFirst(count)
        }
    }

    private static func save(_ data: Data, to path: String) throws {
        do {
            try data.write(to: URL(filePath: path), options: .atomic)
        } catch {
            throw CommandError(description: "“\(path)” cannot be written.")
        }
    }
}

/// An error, described in a sentence.
struct CommandError: Error, CustomStringConvertible {
    let description: String
}
