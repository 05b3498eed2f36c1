import Foundation
import Testing

@testable import WaterfallPage

/// A headless Chromium.
struct Browser {
    /// The result of loading a page.
    struct Reading {
        let document: String
        /// The lines that scripts and the browser wrote to the console.
        let console: [String]

        func count(_ needle: String) -> Int { document.components(separatedBy: needle).count - 1 }
    }

    /// The folder of the profile.
    let folder: URL

    /// Opens a page and returns its document after it has loaded.
    ///
    /// - Parameter page: The file.
    /// - Returns: The document and the console.
    /// - Throws: A failure of the program.
    func read(_ page: URL) async throws -> Reading {
        let chromium = try #require(Program.chromium, "chromium is not installed")
        let output = try await chromium.run([
            "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
            "--user-data-dir=\(folder.path)/profile", "--enable-logging=stderr",
            "--dump-dom", page.absoluteString,
        ])
        let console = output.split(separator: "\n").filter { $0.contains(":CONSOLE") }.map(String.init)
        return Reading(document: output, console: console)
    }

    /// Opens a page with a further script, which runs after that of the page. Its policy allows no other, so the copy that is
    /// opened has none.
    func read(_ html: String, driver: String) async throws -> Reading {
        let policy = try #require(html.firstRange(of: #/<meta http-equiv="Content-Security-Policy"[^>]*>/#))
        var copy = html
        copy.removeSubrange(policy)
        let page = folder.appending(path: "driven.html")
        try Data(copy.replacing("</body>", with: "<script>\(driver)</script></body>").utf8).write(to: page)
        return try await read(page)
    }
}
