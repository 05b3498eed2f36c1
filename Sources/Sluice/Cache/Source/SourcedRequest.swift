import SluiceHTTP

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A request that looks at what is kept before it is sent, if it is: step 1, once for a sender.
final class SourcedRequest: Sendable {
    private let question: KeptQuestion
    /// Made once, for the request and for those who want to see what is kept before its answer.
    private let decision: Flight<KeptQuestion.Decision>

    /// Makes one; nil where the server is all that is asked.
    init?(
        _ pipeline: Pipeline,
        _ draft: RequestDraft,
        _ meter: TransferMeter,
        judge: @escaping KeptQuestion.Judge
    ) {
        guard let store = pipeline.configuration.cache, !pipeline.isStubbed(draft) else { return nil }
        var clients = pipeline.configuration.caching
        // What changes something is sent each time, unless the request itself says otherwise.
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

    /// Answers the request by what is kept or sends it; begins on the calling thread.
    ///
    /// - Parameter completion: Called once with what came of it, on any thread.
    /// - Returns: What stops it.
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

    /// Stops the looking; who waits for it gets a cancellation.
    func cancel() { decision.cancel() }

    /// What is kept, where it is to be shown before the server's answer.
    func first() async -> Landing? {
        switch question.caching.source.kind {
        case .server, .cache, .cacheElseServer: return nil
        case .cacheThenServer, .firstLaunch, .custom: break
        }
        guard case .sent(_, let first) = await decision.value() else { return nil }
        return first
    }

    /// Keeps a response that was accepted, if its data source wants that.
    func keep(_ response: ServerResponse) {
        let caching = question.caching
        // What HTTP's cache gave without asking is as old as it was, and a part is not the whole.
        guard !response.isUnasked, response.head.status != .partialContent, caching.source.keeps(response),
            let request = try? question.draft.build(for: question.pipeline), let key = question.key(of: request)
        else { return }
        let now = question.pipeline.time.date
        var head = response.head
        // A session is not for another day, and how the response came this time is not how it comes next time.
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
