import Sluice

/// A page that shows a recording as a waterfall. It is one HTML text that needs no network, and is complete without scripts.
///
/// ```swift
/// let archive = try Archive(parsing: Data(contentsOf: file))
/// try Data(WaterfallPage(archive.har, title: "Checkout").html.utf8).write(to: page)
/// ```
///
/// All text of the recording is escaped, including URLs and headers of a hostile server. The page's policy forbids external
/// resources and every script but its own, which filters rows and opens details.
public struct WaterfallPage: Sendable {
    /// The HTML of the page.
    public let html: String

    /// Creates a page from a recording.
    ///
    /// - Parameters:
    ///   - har: The recording.
    ///   - title: The title; nil for the title of the recorded page, or a default.
    ///   - remarks: Sentences to show above the exchanges, such as ``Archive/remarks``.
    public init(_ har: HAR, title: String? = nil, remarks: [String] = []) {
        let waterfall = Waterfall(har)
        let pageTitle = har.title ?? ""
        let title = title ?? (pageTitle.isEmpty ? "HTTP waterfall" : pageTitle)
        let dropped = har.droppedEntries ?? 0
        let notKept = dropped > 0 ? ["Not kept: \(Readable.count(dropped, of: "earlier exchange"))."] : []
        let contents: HTML = """
            \(HeaderView(waterfall: waterfall, recorder: har.recorder, title: title).html)
            \(ChartView(waterfall: waterfall, remarks: notKept + remarks).html)
            """
        html = PageDocument(title: title, contents: contents).html.text
    }
}
