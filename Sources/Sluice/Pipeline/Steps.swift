import SluiceHTTP

/// The steps of a request between building and validation, except the transport.
///
/// A class, so that requests share it without copying it.
final class Steps: Sendable {
    /// The gates: first the constraints, then the gates whose `reservesResource` is false, then the others, each in the
    /// order given.
    let gates: [any Gate]
    /// The number of gates whose `reservesResource` is false, constraints included.
    let conditionCount: Int
    let requestInterceptors: [any RequestInterceptor]
    let responseInterceptors: [any ResponseInterceptor]
    let plugins: [any Plugin]
    let observers: [ObserverMailbox]
    /// The events that any observer is interested in.
    let interests: RequestEvent.Kinds
    /// True if any observer receives requests as the transport sent them.
    let recordsRequests: Bool
    /// The plugins that receive informational responses.
    let informationalPlugins: [any Plugin]
    /// The client's secret headers, and the headers into which interceptors put secrets.
    let secretHeaders: [HTTPHeaderName]
    /// The request interceptors that add credentials, each at its number, and nil for the others. Empty if there are none.
    let credentialInterceptors: [(any CredentialBearing)?]
    /// The gates that add the token of a user.
    let tokenGates: [any TokenOwning]
    /// True if a closure supplies a token for each request.
    let suppliesTokens: Bool
    /// The error with which every request fails at the gates; nil if the gates are consistent.
    let failure: SluiceError?

    /// All gates, if no step needs a task; gates can still report at run time that they have to wait. Nil otherwise.
    let immediateGates: [any ImmediateGate]?
    let requestAdapters: [any RequestAdapter]
    let outcomeAdapters: [any OutcomeAdapter]

    /// True if a step may change the outcome of a request.
    var changesOutcomes: Bool { !responseInterceptors.isEmpty || !plugins.isEmpty }

    static let none = Steps(gates: [], conditionCount: 0, StepOverrides(), secretHeaders: [])

    private init(gates: [any Gate], conditionCount: Int, _ steps: StepOverrides, secretHeaders: [HTTPHeaderName]) {
        self.secretHeaders = secretHeaders
        self.gates = gates
        self.conditionCount = conditionCount
        requestInterceptors = steps.requestInterceptors
        responseInterceptors = steps.responseInterceptors
        plugins = steps.plugins
        observers = steps.observers
        interests = steps.observers.reduce([]) { $0.union($1.interests) }
        recordsRequests = steps.observers.contains(where: \.recordsRequests)
        let credentials = requestInterceptors.map { $0 as? any CredentialBearing }
        credentialInterceptors = credentials.contains { $0 != nil } ? credentials : []
        informationalPlugins = steps.plugins.filter(\.receivesInformational)
        failure = GateOrder.failure(of: Array(gates.prefix(conditionCount)))
        // Determined once, and not for each request.
        let immediate = gates.compactMap { $0 as? any ImmediateGate }
        requestAdapters = requestInterceptors.compactMap { $0 as? any RequestAdapter }
        outcomeAdapters = responseInterceptors.compactMap { $0 as? any OutcomeAdapter }
        tokenGates = gates.compactMap { $0 as? any TokenOwning }
        suppliesTokens = requestInterceptors.contains { ($0 as? any TokenSupplying)?.suppliesTokens == true }
        let isImmediate =
            immediate.count == gates.count && plugins.isEmpty && failure == nil
            // Only the asynchronous path asks gates in another order than that of the client.
            && gates.prefix(conditionCount).allSatisfy(\.needs.isEmpty)
            && requestAdapters.count == requestInterceptors.count && outcomeAdapters.count == responseInterceptors.count
        immediateGates = isImmediate ? immediate : nil
    }

    convenience init(_ configuration: APIClient.Configuration) {
        let all = configuration.constraints.map { $0.gate } + configuration.gates
        let conditions = all.filter { !$0.reservesResource }
        var steps = StepOverrides()
        steps.requestInterceptors = configuration.requestInterceptors
        steps.responseInterceptors = configuration.responseInterceptors
        steps.plugins = configuration.plugins
        steps.observers = configuration.observers.map { ObserverMailbox($0) }
        self.init(
            gates: conditions + all.filter(\.reservesResource),
            conditionCount: conditions.count,
            steps,
            secretHeaders: configuration.secretHeaders + configuration.requestInterceptors.secretHeaders
        )
    }

    /// Returns true if the step that has added the credentials in a field of a request also adds them to one for another
    /// origin. That is the first interceptor that does so, or a gate.
    func mayKeep(
        _ name: HTTPHeaderName,
        of request: HTTPRequest,
        in moved: HTTPRequest,
        _ context: RequestContext
    ) -> Bool {
        for case let step? in credentialInterceptors where step.credentialHeader == name {
            if (try? step.covers(request, context)) == true { return (try? step.covers(moved, context)) == true }
        }
        let pipeline = context.client.pipeline
        return name == .authorization
            && tokenGates.contains { $0.mayAuthorize(request, of: pipeline) && $0.mayAuthorize(moved, of: pipeline) }
    }

    /// The sessions of the gates that add the token of a user.
    var sessions: [Int] { tokenGates.map(\.session) }

    /// Returns these steps, followed by those of a request.
    func adding(_ overrides: StepOverrides) -> Steps {
        if overrides.isEmpty { return self }
        var steps = overrides
        steps.requestInterceptors = requestInterceptors + overrides.requestInterceptors
        steps.responseInterceptors = responseInterceptors + overrides.responseInterceptors
        steps.plugins = plugins + overrides.plugins
        steps.observers = observers + overrides.observers
        return Steps(
            gates: gates,
            conditionCount: conditionCount,
            steps,
            secretHeaders: secretHeaders + overrides.requestInterceptors.secretHeaders
        )
    }

    /// The gates and the observers, for a request that the cache sends on its own.
    var ofRevalidation: Steps {
        var steps = StepOverrides()
        steps.observers = observers
        return Steps(gates: gates, conditionCount: conditionCount, steps, secretHeaders: secretHeaders)
    }

    /// Returns the kind and the type of a step. The request interceptors are followed by the plugins.
    func description(ofStep index: Int) -> String {
        if index < requestInterceptors.count { return "request interceptor \(type(of: requestInterceptors[index]))" }
        let plugin = index - requestInterceptors.count
        return plugin < plugins.count ? "plugin \(type(of: plugins[plugin]))" : "request interceptor"
    }

    /// True if there are no steps.
    var isEmpty: Bool {
        gates.isEmpty && requestInterceptors.isEmpty && responseInterceptors.isEmpty
            && plugins.isEmpty && observers.isEmpty
    }

    /// Reports a request that could not be built, or was built and not sent, to observers.
    func notifyUnsent(
        _ draft: RequestDraft,
        _ request: HTTPRequest? = nil,
        _ error: SluiceError,
        _ configuration: APIClient.Configuration
    ) {
        let observers = observers + draft.options.steps.observers
        guard !observers.isEmpty else { return }
        let subject = ObservedRequest.Subject(
            id: .next(),
            draft: draft,
            began: configuration.clock.now,
            beganDate: configuration.clock.date,
            secretHeaders: secretHeaders,
            observers: observers
        )
        let observed = ObservedRequest(subject, attempt: 0, instant: subject.began)
        func post(_ kind: RequestEvent.Kinds, _ event: RequestEvent) {
            var message: ObserverMailbox.Message?
            for observer in observers where observer.interests.contains(kind) {
                observer.post(event, observed, &message)
            }
        }
        if let request { post(.began, .began(request)) }
        post(.finished, .finished(.failure(error)))
    }
}

/// The steps that a request adds to those of its client.
struct StepOverrides: Sendable {
    var requestInterceptors: [any RequestInterceptor] = []
    var responseInterceptors: [any ResponseInterceptor] = []
    var plugins: [any Plugin] = []
    var observers: [ObserverMailbox] = []
    /// The names of the gates that the request bypasses.
    var skippedGates: Set<String> = []
    /// The types of the gates and constraints that the request bypasses.
    var skippedTypes: Set<ObjectIdentifier> = []
    var skipsAllGates = false

    /// True if the request bypasses any gate.
    var skipsGates: Bool { skipsAllGates || !skippedGates.isEmpty || !skippedTypes.isEmpty }

    /// Returns true if the request bypasses this gate, or the constraint of this gate.
    func skips(_ gate: any Gate) -> Bool {
        if skipsAllGates { return true }
        if !skippedGates.isEmpty, skippedGates.contains(gate.name) { return true }
        if skippedTypes.isEmpty { return false }
        if skippedTypes.contains(ObjectIdentifier(type(of: gate))) { return true }
        guard let constraint = (gate as? any ConstrainingGate)?.constraint else { return false }
        return skippedTypes.contains(ObjectIdentifier(type(of: constraint)))
    }

    /// True if the request adds no steps.
    var isEmpty: Bool {
        requestInterceptors.isEmpty && responseInterceptors.isEmpty && plugins.isEmpty && observers.isEmpty
    }
}

// MARK: - Credentials

/// A request interceptor that adds credentials to requests whose origin is within a scope.
protocol CredentialBearing: Sendable {
    var credentialHeader: HTTPHeaderName { get }

    /// Returns true if the request's origin is within the scope.
    func covers(_ request: HTTPRequest, _ context: RequestContext) throws(SluiceError) -> Bool
}

/// The credentials that the steps of an attempt have added. A later step can move the request to an origin outside their scope.
struct AddedCredentials {
    private var added: [(step: any CredentialBearing, value: String)] = []
    private var scheme = ""
    private var authority = ""
    /// True if the next step may add credentials, because their field is absent.
    private var mayAdd = false

    /// Records the field of a step before it runs.
    mutating func prepare(for index: Int, of steps: Steps, _ request: HTTPRequest) {
        guard index < steps.credentialInterceptors.count, let step = steps.credentialInterceptors[index] else { return }
        mayAdd = !request.headers.contains(step.credentialHeader)
    }

    /// Records what a step has added, and removes earlier credentials that it has kept and that are not for the origin it has chosen.
    ///
    /// - Parameters:
    ///   - index: The number of the step: the interceptors are followed by the plugins.
    ///   - steps: The steps.
    ///   - request: The request after the step.
    ///   - context: The context of the attempt.
    /// - Throws: The error of an invalid scope.
    mutating func update(
        after index: Int,
        of steps: Steps,
        _ request: inout HTTPRequest,
        _ context: RequestContext
    ) throws(SluiceError) {
        if !added.isEmpty, request.scheme != scheme || request.authority != authority {
            for (step, value) in added where request.headers[step.credentialHeader] == value {
                if try !step.covers(request, context) { request.headers.remove(step.credentialHeader) }
            }
        }
        let isLast = index + 1 == steps.requestInterceptors.count + steps.plugins.count
        if mayAdd, !isLast, let step = steps.credentialInterceptors[index],
            let value = request.headers[step.credentialHeader]
        {
            added.append((step, value))
        }
        mayAdd = false
        if !added.isEmpty { (scheme, authority) = (request.scheme, request.authority) }
    }
}
