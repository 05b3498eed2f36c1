import SluiceHTTP

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The HTTP cache of a client (RFC 9111), between interceptors and transport: step 4.
final class ExchangeCache: Sendable {
    let store: CacheStore
    let rules: CacheRules
    let fetches: SharedFetches
    let time: any TimeSource
    private let partition: String
    private let tags: Set<String>
    /// The maximum number of stored variants of one URL.
    private static let variantLimit = 16

    /// Creates a cache; nil if there is no store or HTTP caching is disabled.
    init?(
        _ configuration: APIClient.Configuration,
        _ caching: Caching,
        _ fetches: SharedFetches
    ) {
        guard let store = configuration.cache, let http = caching.http else { return nil }
        self.store = store
        self.fetches = fetches
        time = configuration.time
        // The transport adds cookies itself.
        rules = CacheRules(http, hiddenFields: configuration.cookies == nil ? [] : [.cookie])
        partition = caching.partition
        tags = caching.tags
    }

    /// Returns the cache key of a request's resource.
    func key(of request: HTTPRequest) -> CacheKey {
        CacheKey(CacheRules.name(of: request), in: .exchanges, partition: partition)
    }

    /// Returns the digest of the credentials that the response to a request is for; nil for anyone in the partition.
    func identity(
        of request: HTTPRequest,
        _ transfer: TransferContext,
        _ secretHeaders: [HTTPHeaderName]
    ) -> String? {
        CacheIdentity(
            request,
            credentials: transfer.credentials,
            cookies: transfer.cookies,
            secretHeaders: secretHeaders,
            partition: partition
        ).digest
    }

    /// Removes the stored responses that a response invalidates.
    func remove(_ reception: CacheReception, of request: HTTPRequest) {
        if !reception.removing.isEmpty {
            let key = key(of: request)
            for variant in reception.removing { store.discard(CacheSelection(key, variant: variant)) }
        }
        for name in reception.invalidating {
            let key = CacheKey(name, in: .exchanges, partition: partition)
            // A response to a request sent before the change must not be shared with later requests or stored.
            fetches.outdate(key)
            store.discard(CacheSelection(key))
        }
    }

    /// Stores a response. Returns nil if the body is incomplete or the response has been invalidated.
    func keep(_ storing: CacheStoring, of request: HTTPRequest, received: Data?, by ticket: SharedFetches.Ticket)
        -> CacheEntry?
    {
        guard ticket.isCurrent(key(of: request)) else { return nil }
        if let count = storing.receivedCount, count != Int64(received?.count ?? 0) { return nil }
        let entry = entry(storing, of: request, body: storing.body.bytes(received: received ?? Data()))
        let others = store.recall(entry.key).filter { $0.variant != entry.variant }
        for old in others.dropFirst(Self.variantLimit - 1) {
            store.discard(CacheSelection(old.key, variant: old.variant))
        }
        store.keep(entry)
        return entry
    }

    func entry(_ storing: CacheStoring, of request: HTTPRequest, body: Data) -> CacheEntry {
        CacheEntry(
            key: key(of: request),
            variant: storing.variant,
            response: storing.response,
            body: body,
            stored: storing.response.received,
            tags: tags
        )
    }
}

extension CacheBody {
    /// Returns the bytes of the body.
    func bytes(received: Data) -> Data {
        switch self {
        case .received: return received
        case .stored(let entry): return entry.body
        case .combined(let pieces, let entry):
            var bytes = Data()
            for piece in pieces {
                switch piece {
                case .received: bytes.append(received)
                case .stored(let range):
                    let range = range.clamped(to: 0..<entry.body.count)
                    let start = entry.body.startIndex
                    bytes.append(entry.body[start + range.lowerBound..<start + range.upperBound])
                }
            }
            return bytes
        }
    }
}

extension CacheStoring {
    /// True if the body includes received bytes.
    var takesReceived: Bool {
        switch body {
        case .received: true
        case .stored: false
        case .combined(let pieces, _): pieces.contains(.received)
        }
    }

    /// True if the body consists of the received bytes only.
    var isStreamable: Bool {
        if case .received = body { true } else { false }
    }
}

extension CacheServing {
    func source(isShared: Bool = false) -> ResponseSource {
        .cache(
            CacheUse(
                age: .seconds(age),
                isFresh: !isStale,
                isRevalidated: isRevalidated,
                isShared: isShared
            )
        )
    }
}

extension Sending {
    /// Returns a stored response for a request that no gate admitted; otherwise the failure.
    func staleOutcome(after error: SluiceError, _ attempt: Int) async -> TransportOutcome {
        guard let cache, sink == nil, !error.isCancellation else { return .failure(error) }
        let question = CacheLookup(cache, request, transfer, steps)
        guard let serving = await question.servingStale(),
            // The target of a stored redirect may be unreachable.
            serving.response.head.status.class != .redirection
        else { return .failure(error) }
        var response = ServerResponse(
            request: request,
            head: serving.head,
            body: serving.body,
            source: serving.source()
        )
        response.failure = error
        tell(.cached, attempt) { .cached(response) }
        return .success(response)
    }
}
