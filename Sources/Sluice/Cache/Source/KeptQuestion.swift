import SluiceHTTP

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// What is kept for a request, and what becomes of the request by its data source.
struct KeptQuestion: Sendable {
    /// Makes a response of the sender's type; nil where it would be a failure.
    typealias Judge = @Sendable (ServerResponse) -> (any Sendable)?

    /// What becomes of the request.
    enum Decision: Sendable {
        /// It has its answer.
        case answered(Landing)
        /// It is sent; what is kept may be shown before.
        case sent(Sending, first: Landing?)
    }

    let pipeline: Pipeline
    let store: CacheStore
    let draft: RequestDraft
    let meter: TransferMeter
    let caching: Caching
    let judge: Judge

    /// The decision where nothing has to be waited for: what is kept is in memory, and is the answer.
    func immediateDecision() -> Decision? {
        switch caching.source.kind {
        case .cache, .cacheElseServer: break
        default: return nil
        }
        guard let request = try? draft.build(for: pipeline),
            let key = key(of: request),
            let response = store.recall(key).first.flatMap({ response(of: $0, to: request) }),
            let made = judge(response)
        else { return nil }
        return .answered(landing(response, made, observed(request)))
    }

    /// The decision, after all that it takes.
    func decision() async -> Decision {
        let request: HTTPRequest
        do {
            request = try draft.build(for: pipeline)
        } catch {
            pipeline.steps.tellOfUnbuilt(draft, error, pipeline.configuration)
            return .answered(Landing(.failure(error)))
        }
        let sending = pipeline.sending(of: request, draft, meter)
        let key = key(of: request)
        var kept: ServerResponse?
        if let key { kept = await store.entries(for: key).first.flatMap { response(of: $0, to: request) } }
        let made = kept.flatMap(judge)
        // What no model can be made of is nothing, but where there is nothing else: then the failure says why.
        if made == nil, !caching.source.isCacheOnly { kept = nil }
        switch await choice(request, kept, key) {
        case .send:
            return .sent(sending, first: nil)
        case .useKept:
            guard let kept else { return .answered(Landing(.failure(.cacheMiss(request)), sending)) }
            return .answered(landing(kept, made, sending))
        case .useKeptThenSend:
            return .sent(sending, first: kept.map { landing($0, made, sending) })
        }
    }

    /// Under what is kept what answers a request; nil where nothing can be.
    func key(of request: HTTPRequest) -> CacheKey? {
        // What asks for a part, or for nothing if nothing has changed, is not answered by the whole.
        let partial: [HTTPHeaderName] = [
            "Range", "If-None-Match", "If-Modified-Since", "If-Match", "If-Unmodified-Since",
        ]
        if partial.contains(where: request.headers.contains) { return nil }
        let transfer = pipeline.transferContext(of: draft.options, request, nil)
        let who = CacheIdentity(
            request,
            credentials: transfer.credentials,
            cookies: transfer.cookies,
            secretHeaders: pipeline.steps.secretHeaders,
            partition: caching.partition
        )
        return caching.key.key(for: request, who)
    }

    private func choice(_ request: HTTPRequest, _ kept: ServerResponse?, _ key: CacheKey?) async -> CacheChoice {
        switch caching.source.kind {
        case .server: .send
        case .cache: .useKept
        case .cacheElseServer: kept == nil ? .send : .useKept
        case .cacheThenServer: .useKeptThenSend
        case .firstLaunch: key.map(store.isAskedFirst) == true ? .useKeptThenSend : .send
        case .custom(let choice, _): await choice(request, kept)
        }
    }

    private func response(of entry: CacheEntry, to request: HTTPRequest) -> ServerResponse? {
        guard let stored = entry.response else { return nil }
        let age = max(0, pipeline.time.date.timeIntervalSince(entry.stored))
        let use = CacheUse(age: .seconds(age))
        var response = ServerResponse(
            request: request,
            head: stored.head,
            body: entry.body,
            source: .cache(use)
        )
        store.attach(entry, to: &response)
        return response
    }

    private func landing(_ response: ServerResponse, _ made: (any Sendable)?, _ sending: Sending?) -> Landing {
        sending?.tell(.cached, 0) { .cached(response) }
        return Landing(.success(response), sending, made: made)
    }

    /// What observers are told by, where there are any.
    private func observed(_ request: HTTPRequest) -> Sending? {
        if pipeline.steps.observers.isEmpty && draft.options.steps.observers.isEmpty { return nil }
        return pipeline.sending(of: request, draft, meter)
    }
}

extension SluiceError {
    fileprivate static func cacheMiss(_ request: HTTPRequest) -> SluiceError {
        SluiceError(
            .cacheMiss,
            "Nothing is kept that answers the request, and its data source does not let it be sent.",
            step: .cache,
            request: request
        )
    }
}
