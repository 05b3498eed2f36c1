import SluiceHTTP

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Decides what a private cache does (RFC 9111, RFC 9110 §13 and §14, RFC 5861, RFC 8246, RFC 9211): values in, values out.
///
/// A request is planned with what is stored under its name; what has to be sent comes back with the response's head. Whoever carries
/// that out reads the clock, moves bytes and keeps entries.
struct CacheRules: Sendable {
    let options: HTTPCaching
    /// Header fields that the transport adds by itself, so that their values are not known here, `Cookie` with a jar: what varies by
    /// one matches no request, and is not kept.
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
