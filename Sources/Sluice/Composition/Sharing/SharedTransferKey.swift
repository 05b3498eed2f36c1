import SluiceHTTP

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The properties that must match for requests of a client to be equal.
struct SharedTransferKey: Hashable {
    private let method: HTTPMethod
    private let scheme: String
    private let authority: String
    private let path: String
    /// The significant headers as they are sent.
    private let headers: [UInt8]
    private let body: Data?
    private let rules: Rules

    /// The options of a request that affect its transfer.
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
        /// Nil for the client's time-outs.
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

    /// Creates a key; nil for a request that shares no transfer.
    ///
    /// - Parameters:
    ///   - request: The request as it is built.
    ///   - draft: The draft that it was built from.
    ///   - pipeline: The pipeline that it would pass through.
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
        // A request that a gate or an interceptor sends for a shared transfer could otherwise join that transfer and
        // wait for itself.
        guard SharedTransfers.current !== pipeline.transfers else { return nil }
        guard pipeline.steps.gates.isEmpty || Exemption.current.isEmpty else { return nil }
        method = request.method
        scheme = request.scheme
        authority = request.authority
        path = request.path
        headers = sharing.significant(of: request.headers, secrets: pipeline.steps.secretHeaders).bytes
        rules = Rules(draft.options, pipeline.configuration)
    }

    /// Hashes the properties that usually differ between requests.
    func hash(into hasher: inout Hasher) {
        hasher.combine(path)
        hasher.combine(authority)
        hasher.combine(method)
        headers.withUnsafeBytes { hasher.combine(bytes: $0) }
        hasher.combine(body)
    }
}
