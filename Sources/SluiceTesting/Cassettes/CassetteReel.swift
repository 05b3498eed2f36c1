import SluiceHTTP

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The exchanges of a cassette during playback, and the set of those already played.
struct CassetteReel: Sendable {
    private(set) var exchanges: [RecordedExchange]
    private var given: Set<Int> = []

    init(_ exchanges: [RecordedExchange]) {
        self.exchanges = exchanges
    }

    /// Returns the positions of the exchanges that match a request, whether played or not.
    ///
    /// - Parameters:
    ///   - request: The redacted request.
    ///   - criteria: The criteria for a match.
    /// - Returns: The positions, in ascending order.
    func places(of request: RecordedRequest, _ criteria: [CassetteCriterion]) -> [Int] {
        exchanges.indices.filter { place in
            criteria.allSatisfy { $0.isMatch(exchanges[place].request, request) }
        }
    }

    /// Returns the first exchange that has not been played, and marks it as played.
    ///
    /// - Parameters:
    ///   - places: The positions of the matching exchanges.
    ///   - repeatsLast: True to return the last exchange again after all have been played.
    /// - Returns: The exchange, or nil if there is none left.
    mutating func take(of places: [Int], repeatsLast: Bool) -> RecordedExchange? {
        for place in places where given.insert(place).inserted { return exchanges[place] }
        return repeatsLast ? places.last.map { exchanges[$0] } : nil
    }

    /// Adds an exchange and marks it as played, because the request that recorded it has its response.
    mutating func append(_ exchange: RecordedExchange) {
        given.insert(exchanges.count)
        exchanges.append(exchange)
    }
}
