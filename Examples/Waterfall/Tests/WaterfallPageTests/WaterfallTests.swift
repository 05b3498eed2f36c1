import Foundation
import Sluice
import Testing

@testable import WaterfallPage

@Suite struct WaterfallTests {
    private func waterfall(_ entries: [HAR.Entry]) -> Waterfall { Waterfall(Samples.har(entries)) }

    @Test func attemptsAndRedirectsOfARequestAreOneGroup() {
        let waterfall = waterfall([
            Samples.entry(at: 0, 302) { $0.requestID = 1 },
            Samples.entry(at: 10) { $0.requestID = 2 },
            Samples.entry(at: 40, 503) {
                $0.requestID = 1
                $0.redirectCount = 1
            },
            Samples.entry(at: 90) {
                $0.requestID = 1
                $0.attempt = 2
                $0.isFromRetry = true
            },
            Samples.entry(at: 95) {
                $0.requestID = 1
                $0.attempt = 3
                $0.isHedged = true
            },
        ])
        #expect(waterfall.groups.map(\.rows.count) == [4, 1])
        #expect(waterfall.groups[0].rows.map(\.kind) == [.first, .redirect, .retry, .hedge])
        #expect(waterfall.groups[0].rows.map { $0.start.rounded() } == [0, 40, 90, 95])
        #expect(waterfall.groups.map(\.isFailure) == [false, false])
    }

    @Test func aBrowsersRedirectsAreOneGroupByWhereTheyLead() {
        let waterfall = waterfall([
            Samples.entry("https://a.example/old", 302) { $0.response.redirectURL = "/new?x=1" },
            Samples.entry("https://a.example/other", at: 5),
            Samples.entry("https://a.example/new?x=1", at: 10, 301) { $0.response.redirectURL = "https://b.example/" },
            Samples.entry("https://b.example/", at: 20),
            Samples.entry("https://b.example/", at: 30),
        ])
        #expect(waterfall.groups.map(\.rows.count) == [3, 1, 1])
        #expect(waterfall.groups[0].rows.map(\.kind) == [.first, .redirect, .redirect])
    }

    @Test(arguments: [
        ([200], false), ([404], true), ([500, 200], false), ([503, 503], true), ([0], true), ([304], false),
        ([302], false),
    ])
    func aRequestFailedIfNoneOfItsAttemptsSucceeded(_ statuses: [Int], _ isFailure: Bool) {
        let waterfall = waterfall(
            statuses.enumerated().map { index, status in
                Samples.entry(at: Double(index) * 100, status) {
                    $0.requestID = 1
                    $0.attempt = index + 1
                }
            }
        )
        #expect(waterfall.groups.map(\.isFailure) == [isFailure])
    }

    @Test func aRedirectThatLedToAFailureIsOne() {
        let waterfall = waterfall([
            Samples.entry(at: 0, 302) {
                $0.requestID = 1
                $0.response.redirectURL = "https://a.example/x"
            },
            Samples.entry(at: 50, 404) {
                $0.requestID = 1
                $0.redirectCount = 1
            },
        ])
        #expect(waterfall.groups.map(\.isFailure) == [true])
    }

    @Test func segmentsFollowEachOtherAndTLSIsCountedOnce() {
        let segments = waterfall([Samples.entry()]).groups[0].rows[0].segments
        #expect(segments.map(\.phase) == [.blocked, .dns, .connect, .tls, .send, .wait, .receive])
        #expect(segments.map(\.start) == [0, 1, 3, 7, 12, 13, 33])
        #expect(waterfall([Samples.entry()]).end == 40)
    }

    @Test func whereOnlyTheWholeTimeIsKnownItIsAWait() {
        let rows = waterfall([Samples.entry(at: 0, 200, HAR.Timings()) { $0.time = 12 }]).rows
        #expect(rows[0].segments.map(\.phase) == [.wait] && rows[0].duration == 12)
    }

    @Test func manyRequestsAreDrawnInParts() {
        #expect(Waterfall(Samples.session(1)).parts.count == 1)
        #expect(Waterfall(Samples.session(75)).parts.count == 1)
        #expect(Waterfall(Samples.session(2000)).parts.map(\.groups.count) == Array(repeating: 50, count: 40))
    }

    @Test func aPauseBeginsAnotherPart() {
        let parts = waterfall([0, 50, 100, 20_000, 20_050].map { Samples.entry("https://a.example/\($0)", at: $0) })
            .parts
        #expect(parts.map(\.groups.count) == [3, 2])
        #expect(parts.map(\.axis.origin) == [0, 20_000])
    }

    @Test func nonsenseDoesNotTrap() {
        let timings = HAR.Timings(
            blocked: .infinity,
            dns: -5,
            connect: .nan,
            ssl: 1e300,
            send: -1,
            wait: 1e308,
            receive: .nan
        )
        var entries = [Samples.entry("", at: 0, -1, timings), Samples.entry("://", at: 1e15, Int.max, timings)]
        entries[0].startedDateTime = .distantPast
        entries.append(Samples.entry("x", at: 5, Int.min, HAR.Timings()) { $0.time = .infinity })
        entries.append(Samples.entry("x", at: 5) { $0.requestID = Int.min })
        entries.append(Samples.entry("x", at: 5) { $0.response.bodySize = Int.max })
        entries.append(Samples.entry("x", at: 5) { $0.response.bodySize = Int.max })
        let html = WaterfallPage(Samples.har(entries)).html
        #expect(html.contains("</html>"))
        #expect(!html.contains("nan%") && !html.contains("inf"))
    }
}
