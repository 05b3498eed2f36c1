import Foundation
import Sluice
import Testing

@testable import WaterfallPage

@Suite struct WaterfallPageTests {
    private func count(_ needle: String, _ text: String) -> Int {
        text.components(separatedBy: needle).count - 1
    }

    /// Returns the names of tags without a matching end tag or start tag.
    private func unbalanced(_ html: String) -> [String] {
        let html = html.replacing(Script.source.text, with: "")
        let alone: Set = ["meta", "input", "!DOCTYPE", "rect", "line"]
        var open: [String] = []
        for part in html.components(separatedBy: "<").dropFirst() {
            let tag = part.prefix { $0 != ">" }
            if tag.hasPrefix("/") {
                if open.last == String(tag.dropFirst()) { open.removeLast() } else { return [String(tag)] }
            } else if !tag.hasSuffix("/") {
                let name = String(tag.prefix { $0 != " " && $0 != "\n" })
                if !alone.contains(name) || name == "rect" { open.append(name) }
            }
        }
        return open
    }

    @Test(arguments: [0, 1, 40, 2000])
    func aPageHasARowAnEntryAndIsWellFormed(_ count: Int) {
        let html = WaterfallPage(Samples.session(count), title: "A session").html
        #expect(self.count("<details class=\"row", html) == count)
        #expect(self.count("<svg class=\"bars\"", html) == count)
        #expect(unbalanced(html).isEmpty, "\(unbalanced(html))")
        #expect(html.hasPrefix("<!DOCTYPE html>\n<html lang=\"en\">"))
        #expect(html.contains("<title>A session</title>"))
        #expect(self.count("No exchanges were recorded.", html) == (count == 0 ? 1 : 0))
    }

    @Test func nothingIsFetchedAndOneScriptRuns() {
        let html = WaterfallPage(Samples.session(100)).html
        #expect(count("<script", html) == 1 && html.contains("<script>\(Script.source.text)</script>"))
        #expect(html.contains("script-src 'sha256-\(Script.hash)';"))
        let markup = html.replacing(Script.source.text, with: "")
        for word in ["<link", "<img", "<iframe", "src=", "url(", "@import", "href=\"h", "javascript", " on"] {
            #expect(!markup.contains(word) || word == " on" && !markup.contains(" onclick"), "\(word)")
        }
        #expect(html.contains("default-src 'none'"))
        #expect(!html.contains("unsafe-eval") && !html.contains("script-src 'unsafe-inline'"))
    }

    @Test func aHostileRecordingIsText() {
        let evil = "\"><script>alert(1)</script><svg onload='x'>\u{202E}\0"
        let entry = Samples.entry("https://\(evil)/\(evil)?\(evil)", 0) {
            $0.request.method = evil
            $0.request.headers = [HAR.Parameter(name: evil, value: evil)]
            $0.request.queryString = [HAR.Parameter(name: evil, value: evil)]
            $0.request.postData = HAR.PostData(mimeType: evil)
            $0.request.postData?.params = [HAR.Parameter(name: evil, value: evil)]
            $0.response.headers = [HAR.Parameter(name: evil, value: evil)]
            $0.response.statusText = evil
            $0.response.httpVersion = evil
            $0.response.redirectURL = evil
            $0.response.content.text = evil
            $0.response.content.mimeType = evil
            $0.error = evil
            $0.route = evil
            $0.comment = evil
            $0.serverIPAddress = evil
            $0.connection = evil
            $0.requestID = 1
            $0 = $0.waiting(at: evil, milliseconds: 1)
        }
        let har = HAR([entry, entry], recordedBy: evil, pageTitle: evil)
        let html = WaterfallPage(har).html
        #expect(count("<script", html) == 1 && !html.contains("<svg onload"))
        #expect(count("</noscript>", html) == 2)
        #expect(!html.unicodeScalars.contains("\u{202E}") && !html.unicodeScalars.contains("\0"))
        #expect(unbalanced(html).isEmpty, "\(unbalanced(html))")
        #expect(count("&lt;script&gt;", html) > 30)
    }

    @Test func figuresAreInTheHeader() {
        let html = WaterfallPage(Samples.session(20)).html
        #expect(html.contains("<dt>Requests</dt><dd>20<small>20 exchanges</small>"))
        #expect(html.contains("<dt>Failed</dt><dd>2<small>10 % of all</small>"))
        #expect(html.contains("<dt>Median</dt><dd>40 ms"))
        #expect(html.contains("<dt>Total</dt><dd>800 ms"))
    }

    @Test func aFailureIsMarkedAndExplained() {
        let html = WaterfallPage(
            Samples.har([Samples.entry(at: 0, 0) { $0.error = "cannotConnect: Nobody listens." }])
        ).html
        #expect(html.contains("<details class=\"row error\" data-o=\"0\">") && html.contains("✕ cannotConnect"))
        #expect(html.contains("<p class=\"failure\">cannotConnect: Nobody listens.</p>"))
        #expect(html.contains("<li class=\"group failed\" data-t=\"40.0\">"))
    }

    @Test func longBodiesAreShownInPart() {
        let html = WaterfallPage(
            Samples.har([Samples.entry { $0.response.content.text = String(repeating: "é", count: 5000) }])
        ).html
        #expect(html.contains("<p class=\"remark\">and 6 kB more</p>"))
        let bytes = WaterfallPage(
            Samples.har([
                Samples.entry {
                    $0.response.content.text = "AAECAwQFBgcI"
                    $0.response.content.encoding = "base64"
                }
            ])
        ).html
        #expect(bytes.contains("No text: 9 B of base64."))
    }

    @Test func theSameRecordingGivesTheSamePage() {
        #expect(WaterfallPage(Samples.session(60)).html == WaterfallPage(Samples.session(60)).html)
    }
}
