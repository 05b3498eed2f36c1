import Foundation
import Sluice

/// Entries to draw.
enum Samples {
    static let start = Date(timeIntervalSince1970: 1_767_225_600)

    static func entry(
        _ url: String = "https://a.example/users",
        at milliseconds: Double = 0,
        _ status: Int = 200,
        _ timings: HAR.Timings = HAR.Timings(blocked: 1, dns: 2, connect: 9, ssl: 5, send: 1, wait: 20, receive: 7),
        _ change: (inout HAR.Entry) -> Void = { _ in }
    ) -> HAR.Entry {
        var entry = HAR.Entry(
            startedDateTime: start.addingTimeInterval(milliseconds / 1000),
            method: "GET",
            url: url,
            status: status,
            httpVersion: "HTTP/1.1",
            timings: timings
        )
        change(&entry)
        return entry
    }

    static func har(_ entries: [HAR.Entry]) -> HAR {
        HAR(entries: entries)
    }

    /// Returns a session with a request every 40 milliseconds. Every tenth fails.
    static func session(_ count: Int) -> HAR {
        har((0..<count).map { entry("https://a.example/users/\($0)", at: Double($0) * 40, $0 % 10 == 9 ? 500 : 200) })
    }
}
