import Sluice

/// A page that shows a recording as a waterfall. It is one HTML text that needs no network and no script.
///
/// ```swift
/// let har = try HAR(parsing: Data(contentsOf: file))
/// try Data(WaterfallPage(har, title: "Checkout").html.utf8).write(to: page)
/// ```
///
/// All text of the recording is escaped, including URLs and headers of a hostile server. The page's policy forbids scripts and
/// external resources.
public struct WaterfallPage: Sendable {
    /// The HTML of the page.
    public let html: String

    /// Creates a page from a recording.
    ///
    /// - Parameters:
    ///   - har: The recording.
    ///   - title: The title; nil for the title of the recorded page, or a default.
    public init(_ har: HAR, title: String? = nil) {
        let waterfall = Waterfall(har)
        let pageTitle = har.log.pages.first?.title ?? ""
        let title = title ?? (pageTitle.isEmpty ? "HTTP waterfall" : pageTitle)
        html = WaterfallPage.document(waterfall, har.log, title).text
    }

    private static func document(_ waterfall: Waterfall, _ log: HAR.Log, _ title: String) -> HTML {
        """
        <!DOCTYPE html>
        <html lang="en">
        <head>
        <meta charset="utf-8">
        <meta name="viewport" content="width=device-width, initial-scale=1">
        <meta name="color-scheme" content="light dark">
        <meta name="referrer" content="no-referrer">
        <meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
        <title>\(title)</title>
        <style>
        \(Stylesheet.css)
        </style>
        </head>
        <body>
        <main>
        \(HeaderView(waterfall: waterfall, log: log, title: title).html)
        \(ChartView(waterfall: waterfall, dropped: log.droppedEntries ?? 0).html)
        </main>
        </body>
        </html>

        """
    }
}
