#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// An event of a process of the fleet, which writes one line of JSON for each.
public struct FleetEvent: Codable, Sendable, Equatable {
    /// The kind of an event.
    public enum Kind: String, Codable, Sendable {
        /// The upstream accepts connections.
        case ready
        /// The upstream exchanged a refresh token.
        case token
        /// The upstream got a refresh token that it had exchanged before.
        case reusedToken
        /// The upstream refused a request, because its access token was not valid.
        case refused
        /// The upstream answered a request for an order.
        case order
        /// The upstream answered a request for a page.
        case page
        /// A service reports the counts since its last report.
        case counts
        /// The rate limit of a service uses its fallback from now on.
        case fallbackStarted
        /// The rate limit of a service uses Redis again.
        case fallbackEnded
        /// The script killed a service.
        case serviceKilled
        /// The script started a service again.
        case serviceStarted
        /// The script killed Redis.
        case redisKilled
        /// Redis accepts connections again.
        case redisStarted
        /// The script ends the run.
        case stopping
    }

    /// The time in seconds since 1970. All processes run on one machine, with one clock.
    public var time: Double
    /// The kind.
    public var kind: Kind
    /// The number of the service, from 1.
    public var service: Int?
    /// The number of the page.
    public var page: Int?
    /// The base URL of the upstream, in an event of the kind ``Kind/ready``.
    public var url: String?
    /// The counts of a service.
    public var counts: ServiceCounts?

    /// Creates an event.
    public init(
        _ kind: Kind,
        at time: Double,
        service: Int? = nil,
        page: Int? = nil,
        url: String? = nil,
        counts: ServiceCounts? = nil
    ) {
        (self.kind, self.time, self.service, self.page, self.url, self.counts) = (
            kind, time, service, page, url, counts
        )
    }

    /// Reads the lines of a file. A last line without its end is ignored, because its process may have been killed.
    ///
    /// - Throws: A `DecodingError` for a line that is no event.
    public static func events(in lines: Data) throws -> [FleetEvent] {
        guard let end = lines.lastIndex(of: UInt8(ascii: "\n")) else { return [] }
        let decoder = JSONDecoder()
        return try lines[..<end].split(separator: UInt8(ascii: "\n")).map {
            try decoder.decode(FleetEvent.self, from: Data($0))
        }
    }
}

/// The counts of a service.
public struct ServiceCounts: Codable, Sendable, Equatable {
    /// The orders that its users got.
    public var orders = 0
    /// The pages that its users got.
    public var pages = 0
    /// The orders and pages with a wrong body.
    public var wrong = 0
    /// The errors that its users saw, by their codes.
    public var errors: [String: Int] = [:]

    /// Creates counts of nothing.
    public init() {}

    /// Adds counts.
    public static func += (total: inout ServiceCounts, more: ServiceCounts) {
        total.orders += more.orders
        total.pages += more.pages
        total.wrong += more.wrong
        total.errors.merge(more.errors, uniquingKeysWith: +)
    }
}
