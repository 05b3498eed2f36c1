import SluiceHTTP

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The requests sent so far, used to detect a page that leads back to an earlier one.
struct PageTrail: Sendable {
    private struct Stop: Hashable, Sendable {
        let method: HTTPMethod
        let url: String
        let headers: HTTPHeaders
        let body: Data?
    }

    private var stops: Set<Stop> = []

    /// Records a request.
    ///
    /// - Parameter request: The request that is sent next.
    /// - Throws: ``SluiceError/Code/paginationLoop`` if the same request has been sent before.
    mutating func add(_ request: HTTPRequest) throws(SluiceError) {
        let body: Data?
        switch request.body.source {
        case .none: body = nil
        case .data(let data): body = data
        // A stream may have different content each time.
        case .file, .stream, .deferred: return
        }
        let stop = Stop(method: request.method, url: request.url, headers: request.headers, body: body)
        guard stops.insert(stop).inserted else {
            throw SluiceError(
                .paginationLoop,
                "The next page is one that has been there already: page \(stops.count) leads back.",
                step: .recovery,
                request: request
            )
        }
    }
}
