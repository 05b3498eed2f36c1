import SluiceHTTP

/// All that a request meets between being made and being judged, but for the transport.
struct Steps: Sendable {
    /// Gates that hold nothing, constraints first, and behind them those that hold something, in their order.
    private(set) var gates: [any Gate] = []
    /// How many of them hold nothing.
    private(set) var conditionCount = 0
    private(set) var requestInterceptors: [any RequestInterceptor] = []
    private(set) var responseInterceptors: [any ResponseInterceptor] = []
    private(set) var plugins: [any Plugin] = []
    private(set) var observers: [ObserverMailbox] = []
    /// The client's, and those that interceptors put secrets into.
    private(set) var secretHeaders: [HTTPHeaderName] = []
    /// Why no request can pass the gates.
    private(set) var failure: SluiceError?

    /// All gates, where none of the steps ever has to wait but a gate by its own word.
    private(set) var immediateGates: [any ImmediateGate]? = []
    private(set) var requestAdapters: [any RequestAdapter] = []
    private(set) var outcomeAdapters: [any OutcomeAdapter] = []

    /// No steps at all.
    static let none = Steps()

    private init() {}

    init(_ configuration: APIClient.Configuration) {
        let all = configuration.constraints.map { ConstraintGate($0) as any Gate } + configuration.gates
        let conditions = all.filter { !$0.holds }
        gates = conditions + all.filter(\.holds)
        conditionCount = conditions.count
        failure = GateOrder.failure(of: conditions)
        requestInterceptors = configuration.requestInterceptors
        responseInterceptors = configuration.responseInterceptors
        plugins = configuration.plugins
        observers = configuration.observers.map(ObserverMailbox.init)
        secretHeaders = configuration.secretHeaders + requestInterceptors.secretHeaders
        findImmediate()
    }

    /// These steps with a request's own behind them.
    func adding(_ own: OwnSteps) -> Steps {
        if own.isEmpty { return self }
        var steps = self
        steps.requestInterceptors += own.requestInterceptors
        steps.responseInterceptors += own.responseInterceptors
        steps.plugins += own.plugins
        steps.observers += own.observers
        steps.secretHeaders += own.requestInterceptors.secretHeaders
        steps.findImmediate()
        return steps
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
        for observer in observers { observer.post(.finished(.failure(error)), of: observed) }
    }

    /// Asks each step once whether it can do without waiting, so that no request has to.
    private mutating func findImmediate() {
        let immediate = gates.compactMap { $0 as? any ImmediateGate }
        requestAdapters = requestInterceptors.compactMap { $0 as? any RequestAdapter }
        outcomeAdapters = responseInterceptors.compactMap { $0 as? any OutcomeAdapter }
        let isImmediate =
            immediate.count == gates.count && plugins.isEmpty && failure == nil
            && requestAdapters.count == requestInterceptors.count && outcomeAdapters.count == responseInterceptors.count
        immediateGates = isImmediate ? immediate : nil
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
