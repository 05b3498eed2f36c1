import SluiceHTTP

/// All that a request meets between being made and being judged, but for the transport.
///
/// A class, so that requests share it without copying it.
final class Steps: Sendable {
    /// Gates that hold nothing, constraints first, and behind them those that hold something, in their order.
    let gates: [any Gate]
    /// How many of them hold nothing.
    let conditionCount: Int
    let requestInterceptors: [any RequestInterceptor]
    let responseInterceptors: [any ResponseInterceptor]
    let plugins: [any Plugin]
    let observers: [ObserverMailbox]
    /// True if any observer wants to be told of informational responses.
    let observesInformational: Bool
    /// The plugins that do.
    let informationalPlugins: [any Plugin]
    /// The client's, and those that interceptors put secrets into.
    let secretHeaders: [HTTPHeaderName]
    /// Why no request can pass the gates.
    let failure: SluiceError?

    /// All gates, where none of the steps ever has to wait but a gate by its own word.
    let immediateGates: [any ImmediateGate]?
    let requestAdapters: [any RequestAdapter]
    let outcomeAdapters: [any OutcomeAdapter]

    /// No steps at all.
    static let none = Steps(gates: [], conditionCount: 0, OwnSteps(), secretHeaders: [])

    private init(gates: [any Gate], conditionCount: Int, _ others: OwnSteps, secretHeaders: [HTTPHeaderName]) {
        self.secretHeaders = secretHeaders
        self.gates = gates
        self.conditionCount = conditionCount
        requestInterceptors = others.requestInterceptors
        responseInterceptors = others.responseInterceptors
        plugins = others.plugins
        observers = others.observers
        observesInformational = others.observers.contains { $0.interests.contains(.informational) }
        informationalPlugins = others.plugins.filter(\.wantsInformational)
        failure = GateOrder.failure(of: Array(gates.prefix(conditionCount)))
        // Each step is asked once whether it can do without waiting, so that no request has to ask.
        let immediate = gates.compactMap { $0 as? any ImmediateGate }
        requestAdapters = requestInterceptors.compactMap { $0 as? any RequestAdapter }
        outcomeAdapters = responseInterceptors.compactMap { $0 as? any OutcomeAdapter }
        let isImmediate =
            immediate.count == gates.count && plugins.isEmpty && failure == nil
            && requestAdapters.count == requestInterceptors.count && outcomeAdapters.count == responseInterceptors.count
        immediateGates = isImmediate ? immediate : nil
    }

    convenience init(_ configuration: APIClient.Configuration) {
        let all = configuration.constraints.map { ConstraintGate($0) as any Gate } + configuration.gates
        let conditions = all.filter { !$0.holds }
        var others = OwnSteps()
        others.requestInterceptors = configuration.requestInterceptors
        others.responseInterceptors = configuration.responseInterceptors
        others.plugins = configuration.plugins
        others.observers = configuration.observers.map(ObserverMailbox.init)
        self.init(
            gates: conditions + all.filter(\.holds),
            conditionCount: conditions.count,
            others,
            secretHeaders: configuration.secretHeaders + configuration.requestInterceptors.secretHeaders
        )
    }

    /// These steps with a request's own behind them.
    func adding(_ own: OwnSteps) -> Steps {
        if own.isEmpty { return self }
        var others = own
        others.requestInterceptors = requestInterceptors + own.requestInterceptors
        others.responseInterceptors = responseInterceptors + own.responseInterceptors
        others.plugins = plugins + own.plugins
        others.observers = observers + own.observers
        return Steps(
            gates: gates,
            conditionCount: conditionCount,
            others,
            secretHeaders: secretHeaders + own.requestInterceptors.secretHeaders
        )
    }

    /// Whether the transport is all there is.
    var isEmpty: Bool {
        gates.isEmpty && requestInterceptors.isEmpty && responseInterceptors.isEmpty
            && plugins.isEmpty && observers.isEmpty
    }

    /// Tells of a request that could not be made.
    func tellOfUnbuilt(_ draft: RequestDraft, _ error: SluiceError, _ configuration: APIClient.Configuration) {
        let observers = (observers + draft.options.steps.observers).filter { $0.interests.contains(.finished) }
        guard !observers.isEmpty else { return }
        let subject = ObservedRequest.Subject(
            id: .next(),
            draft: draft,
            began: configuration.time.now,
            beganDate: configuration.time.date,
            secretHeaders: secretHeaders
        )
        let observed = ObservedRequest(subject, attempt: 0, instant: subject.began)
        let note = ObserverMailbox.Note(.finished(.failure(error)), observed)
        for observer in observers { observer.post(note) }
    }
}

/// What a request adds to the steps of its client.
struct OwnSteps: Sendable {
    var requestInterceptors: [any RequestInterceptor] = []
    var responseInterceptors: [any ResponseInterceptor] = []
    var plugins: [any Plugin] = []
    var observers: [ObserverMailbox] = []
    /// The names of gates it does not ask.
    var skippedGates: Set<String> = []
    var skipsAllGates = false

    /// Whether there is anything to add to the client's steps.
    var isEmpty: Bool {
        requestInterceptors.isEmpty && responseInterceptors.isEmpty && plugins.isEmpty && observers.isEmpty
    }
}
