@testable import Sluice
@testable import SluiceCache
@testable import SluiceHTTP
@testable import SluiceJSON

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension FuzzTarget {
    private static let now = Date(timeIntervalSince1970: 1_767_225_600)

    /// Parses an HTTP date or a `Retry-After`. A date survives writing and reading.
    static let date = FuzzTarget("date") { bytes in
        let text = FuzzInput(bytes).text
        if let date = HTTPDate.parse(text, now: now) {
            let written = HTTPDate.string(from: date)
            try require(written.utf8.count == 29, "A date is written as \(written).")
            // A leap second at the end of year 9999 is later than any date that can be written.
            let last = Date(timeIntervalSince1970: 253_402_300_799)
            try require(HTTPDate.parse(written, now: now) == min(date, last), "\(written) does not round-trip.")
        }
        guard let delay = RetryAfter.delay(text, now: now) else { return }
        try require(delay >= .zero && delay <= RetryAfter.longest, "A delay is \(delay).")
        let headers: HTTPHeaders = ["Retry-After": "0", "Retry-After": text]
        try require(RetryAfter.delay(in: headers, now: now) == delay, "The longest delay does not win.")
    }

    /// Parses header fields, one a line. A pause is finite and not negative, and an additional field never shortens it.
    static let quota = FuzzTarget("quota") { bytes in
        var input = FuzzInput(bytes)
        var headers = HTTPHeaders()
        var before = Duration.zero
        for line in input.lines().prefix(32) {
            let name = Substring(line.utf8.prefix { $0 != UInt8(ascii: ":") })
            let value = Substring(line.utf8.dropFirst(name.utf8.count + 1))
            headers.append(HTTPHeaderName(String(name)), String(value))
            let head = HTTPResponse(status: .tooManyRequests, headers: headers)
            let pause = QuotaHeaders.pause(in: head, now: now) ?? .zero
            try require(pause >= .zero && pause <= RetryAfter.longest, "A pause is \(pause).")
            // The `Date` field shifts the delay until a time of day.
            if HTTPHeaderName(String(name)) != .date {
                try require(pause >= before, "An added field shortens the pause.")
            }
            before = pause
        }
    }
}
