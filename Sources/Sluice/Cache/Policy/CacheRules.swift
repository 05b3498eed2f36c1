import SluiceHTTP

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The decisions of a private cache (RFC 9111, RFC 9110 §13 and §14, RFC 5861, RFC 8246, RFC 9211), as pure functions
/// of values.
///
/// ``plan(for:identity:stored:now:collapsed:)`` takes a request and the entries stored under its cache key. A request
/// that has to be sent comes back with the head of its response. The caller reads the clock, transfers bytes and stores
/// entries.
struct CacheRules: Sendable {
    let options: HTTPCaching
    /// Header fields that the transport adds, so that their values are unknown here, such as `Cookie` if a cookie jar
    /// is used. A response that varies by one of them matches no request and is not stored.
    let hiddenFields: [HTTPHeaderName]
    let heuristicFraction: Double
    let maximumHeuristicLifetime: Double
    let staleIfError: Double?
    let staleWhileRevalidate: Double?
    let cacheName: String

    init(_ options: HTTPCaching = HTTPCaching(), hiddenFields: [HTTPHeaderName] = []) {
        self.options = options
        self.hiddenFields = hiddenFields
        let fraction = options.heuristicFraction
        heuristicFraction = fraction.isNaN ? 0 : min(max(fraction, 0), 1)
        maximumHeuristicLifetime = DeltaSeconds.of(options.maximumHeuristicLifetime)
        staleIfError = options.staleIfError.map(DeltaSeconds.of)
        staleWhileRevalidate = options.staleWhileRevalidate.map(DeltaSeconds.of)
        cacheName = CacheStatus.encodedName(options.name)
    }
}
