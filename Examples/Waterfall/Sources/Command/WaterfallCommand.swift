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

/// Converts an HTTP archive or a live session to a page.
@main struct WaterfallCommand {
    static func main() async {
        do {
            let arguments = try Arguments(CommandLine.arguments.dropFirst())
            if arguments.showsHelp { return print(Arguments.usage) }
            let har = try await recording(arguments)
            if let path = arguments.archive { try save(try har.data(), to: path) }
            let page = WaterfallPage(har, title: arguments.title ?? arguments.defaultTitle).html
            if let path = arguments.output {
                try save(Data(page.utf8), to: path)
            } else {
                print(page, terminator: "")
            }
        } catch {
            let line = Array("waterfall: \(error)\n".utf8)
            _ = write(STDERR_FILENO, line, line.count)
            exit(EXIT_FAILURE)
        }
    }

    private static func recording(_ arguments: Arguments) async throws -> HAR {
        guard let path = arguments.input else { return try await Demonstration().recording() }
        let data: Data
        do {
            data = try Data(contentsOf: URL(filePath: path))
        } catch {
            throw CommandError(description: "“\(path)” cannot be read.")
        }
        do throws(SluiceError) {
            return try HAR(parsing: data)
        } catch {
            throw CommandError(description: "“\(path)”: \(error)")
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
