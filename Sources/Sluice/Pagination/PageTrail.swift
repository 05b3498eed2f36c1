import SluiceHTTP

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The requests that led to a page, by which one that leads back is told.
struct PageTrail: Sendable {
    private struct Stop: Hashable, Sendable {
        let method: HTTPMethod
        let url: String
        let headers: HTTPHeaders
        let body: Data?
    }

    private var stops: Set<Stop> = []

    /// Takes a request in.
    ///
    /// - Parameter request: What is sent next.
    /// - Throws: ``SluiceError/Code/paginationLoop`` if it has been sent before.
    mutating func add(_ request: HTTPRequest) throws(SluiceError) {
        let body: Data?
        switch request.body.source {
        case .none: body = nil
        case .data(let data): body = data
        // A stream may be another each time.
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
