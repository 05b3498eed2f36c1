import SluiceHTTP

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The exchanges of a cassette while it is played: which have been given, and which a request gets.
struct CassetteReel: Sendable {
    private(set) var exchanges: [RecordedExchange]
    private var given: Set<Int> = []

    init(_ exchanges: [RecordedExchange]) {
        self.exchanges = exchanges
    }

    /// Gives the first exchange of a request that has not been given yet.
    ///
    /// - Parameters:
    ///   - request: The request, redacted.
    ///   - criteria: What it must have in common with a recorded one.
    ///   - repeatsLast: Whether the last is given again once all have been.
    /// - Returns: The exchange; nil where there is none, or none is left.
    mutating func take(
        for request: RecordedRequest,
        _ criteria: [CassetteCriterion],
        repeatsLast: Bool
    ) -> RecordedExchange? {
        var last: Int?
        for (place, exchange) in exchanges.enumerated()
        where criteria.allSatisfy({ $0.isMatch(exchange.request, request) }) {
            if given.insert(place).inserted { return exchange }
            last = place
        }
        return repeatsLast ? last.map { exchanges[$0] } : nil
    }

    /// Adds an exchange that has been given to the one who made it.
    mutating func append(_ exchange: RecordedExchange) {
        given.insert(exchanges.count)
        exchanges.append(exchange)
    }

    /// How many exchanges a request has, given or not.
    func count(of request: RecordedRequest, _ criteria: [CassetteCriterion]) -> Int {
        exchanges.count { exchange in criteria.allSatisfy { $0.isMatch(exchange.request, request) } }
    }
}
