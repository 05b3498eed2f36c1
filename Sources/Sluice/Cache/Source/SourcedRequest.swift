import SluiceHTTP

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A request with a data source that reads the cache: step 1, run once per sender.
final class SourcedRequest: Sendable {
    private let question: KeptQuestion
    /// The decision, made once. The request and the readers of the first stored response share it.
    private let decision: Flight<KeptQuestion.Decision>

    /// Creates a sourced request; nil if its data source is the server.
    init?(
        _ pipeline: Pipeline,
        _ draft: RequestDraft,
        _ meter: TransferMeter,
        judge: @escaping KeptQuestion.Judge
    ) {
        guard let store = pipeline.configuration.cache, !pipeline.isStubbed(draft) else { return nil }
        var clients = pipeline.configuration.caching
        // Unsafe requests are always sent, unless the request itself sets a source.
        if !draft.method.isSafe { clients.source = .server }
        let caching = draft.options.caching.applied(to: clients)
        guard caching.source.reads else { return nil }
        let question = KeptQuestion(
            pipeline: pipeline,
            store: store,
            draft: draft,
            meter: meter,
            caching: caching,
            judge: judge
        )
        self.question = question
        decision = Flight(cancelled: .answered(.cancelled)) { land, _ in
            let task = Task { _ = land(await question.decision()) }
            return { task.cancel() }
        }
    }

    /// Returns the stored response or sends the request. Starts on the calling thread.
    ///
    /// - Parameter completion: Called once with the result, on any thread.
    /// - Returns: A closure that cancels the request.
    func begin(_ completion: @escaping @Sendable (Landing) -> Void) -> Flight<Landing>.Stop {
        if case .answered(let landing) = question.immediateDecision() {
            completion(landing)
            return {}
        }
        let task = Task { [self] in
            switch await decision.value() {
            case nil: completion(.cancelled)
            case .answered(let landing): completion(landing)
            case .sent(let sending, _): completion(Landing(await question.pipeline.outcome(of: sending), sending))
            }
        }
        return { task.cancel() }
    }

    /// Cancels the lookup. Waiting callers receive a cancellation.
    func cancel() { decision.cancel() }

    /// Returns the stored response to show before the server's response; nil if there is none.
    func first() async -> Landing? {
        switch question.caching.source.kind {
        case .server, .cache, .cacheElseServer: return nil
        case .cacheThenServer, .firstLaunch, .custom: break
        }
        guard case .sent(_, let first) = await decision.value() else { return nil }
        return first
    }

    /// Stores an accepted response if its data source stores it.
    func keep(_ response: ServerResponse) {
        let caching = question.caching
        // A response from the HTTP cache that was not revalidated is not new, and a partial response is not complete.
        guard !response.isUnasked, response.head.status != .partialContent, caching.source.keeps(response),
            let request = try? question.draft.build(for: question.pipeline), let key = question.key(of: request)
        else { return }
        let now = question.pipeline.time.date
        var head = response.head
        // Removes cookies and the fields that describe this delivery of the response.
        for name in [HTTPHeaderName.setCookie, "Age", "Cache-Status"] { head.headers.remove(name) }
        let stored = StoredResponse(
            method: request.method,
            url: request.url,
            head: head,
            requested: now,
            received: now
        )
        let expiration = caching.expiration ?? question.store.configuration.expiration
        question.store.keep(
            CacheEntry(
                key: key,
                response: stored,
                body: response.body,
                stored: now,
                expires: expiration.date(from: now),
                renewal: expiration.renewal,
                tags: caching.tags
            )
        )
    }
}
