import SluiceHTTP

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// What makes requests of a client equal.
struct SharedTransferKey: Hashable {
    private let method: HTTPMethod
    private let scheme: String
    private let authority: String
    private let path: String
    /// As they go onto the wire.
    private let headers: [UInt8]
    private let body: Data?
    private let rules: Rules

    /// What else a request says of itself that its transfer depends on.
    private struct Rules: Hashable {
        let tags: Set<String>
        let route: String?
        let priority: RequestPriority
        let networkAccess: NetworkAccess
        let usesCookies: Bool
        let credentials: ChallengeCredentials??
        let isIdempotent: Bool?
        let skippedGates: Set<String>
        let skipsAllGates: Bool
        /// Nil for the client's.
        let timeouts: Timeouts?
        let limits: ResponseLimits?

        init(_ options: borrowing RequestOptions, _ configuration: borrowing APIClient.Configuration) {
            tags = options.tags
            route = options.route
            priority = options.priority
            networkAccess = options.networkAccess
            usesCookies = options.usesCookies
            credentials = options.credentials
            isIdempotent = options.isIdempotent
            skippedGates = options.steps.skippedGates
            skipsAllGates = options.steps.skipsAllGates
            timeouts = options.timeouts.isChanged ? options.timeouts.applied(to: configuration.timeouts) : nil
            limits = options.limits.isChanged ? options.limits.applied(to: configuration.limits) : nil
        }
    }

    /// Makes one; nil for a request that shares no transfer.
    ///
    /// - Parameters:
    ///   - request: The request as it is built.
    ///   - draft: What it was built of.
    ///   - pipeline: What it would pass through.
    init?(_ request: HTTPRequest, _ draft: RequestDraft, _ pipeline: Pipeline) {
        let sharing = draft.options.sharing ?? pipeline.sharing
        guard sharing.covers(request.method), !draft.options.changesSteps, !draft.options.caching.isChanged,
            !pipeline.isStubbed(draft)
        else { return nil }
        switch request.body.source {
        case .none: body = nil
        case .data(let data): body = data
        case .file, .stream, .deferred: return nil
        }
        // What a gate or an interceptor sends for itself would wait for those who wait for it.
        guard SharedTransfers.current !== pipeline.transfers else { return nil }
        guard pipeline.steps.gates.isEmpty || Exemption.current.isEmpty else { return nil }
        method = request.method
        scheme = request.scheme
        authority = request.authority
        path = request.path
        headers = sharing.significant(of: request.headers, secrets: pipeline.steps.secretHeaders).bytes
        rules = Rules(draft.options, pipeline.configuration)
    }

    /// Hashes what nearly always differs where anything does.
    func hash(into hasher: inout Hasher) {
        hasher.combine(path)
        hasher.combine(authority)
        hasher.combine(method)
        headers.withUnsafeBytes { hasher.combine(bytes: $0) }
        hasher.combine(body)
    }
}
