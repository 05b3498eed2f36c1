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

    /// The places of a request's exchanges, given or not.
    ///
    /// - Parameters:
    ///   - request: The request, redacted.
    ///   - criteria: What it must have in common with a recorded one.
    /// - Returns: The places, in their order.
    func places(of request: RecordedRequest, _ criteria: [CassetteCriterion]) -> [Int] {
        exchanges.indices.filter { place in
            criteria.allSatisfy { $0.isMatch(exchanges[place].request, request) }
        }
    }

    /// Gives the first exchange that has not been given yet.
    ///
    /// - Parameters:
    ///   - places: Where those are of which one is wanted.
    ///   - repeatsLast: Whether the last is given again once all have been.
    /// - Returns: The exchange; nil where there is none, or none is left.
    mutating func take(of places: [Int], repeatsLast: Bool) -> RecordedExchange? {
        for place in places where given.insert(place).inserted { return exchanges[place] }
        return repeatsLast ? places.last.map { exchanges[$0] } : nil
    }

    /// Adds an exchange that has been given to the one who made it.
    mutating func append(_ exchange: RecordedExchange) {
        given.insert(exchanges.count)
        exchanges.append(exchange)
    }
}
