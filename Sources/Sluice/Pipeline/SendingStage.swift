import SluiceHTTP

/// The stage that a request has reached, named in the error when its time is up.
enum SendingStage: Sendable, Equatable {
    case beginning
    case gate(String)
    case requestInterceptors
    case transport
    case responseInterceptors
    /// The pause between two attempts.
    case pause

    var step: SluiceError.Step {
        switch self {
        case .beginning: .building
        case .gate: .gate
        case .requestInterceptors: .requestInterceptor
        case .transport: .transport
        case .responseInterceptors: .responseInterceptor
        case .pause: .recovery
        }
    }

    /// The stage as the end of a sentence.
    var words: String {
        switch self {
        case .beginning: "it had not been sent"
        case .gate(let name): "it was waiting at the gate “\(name)”"
        case .requestInterceptors: "its interceptors were at work"
        case .transport: "its answer had not come"
        case .responseInterceptors: "the interceptors of its response were at work"
        case .pause: "it was waiting to be sent again"
        }
    }
}

/// The stages of all attempts of a request. Several attempts may run at once.
struct SendingStages: Sendable {
    private var latest = SendingStage.beginning
    /// The gates that the request waits at, in the order in which it reached them.
    private var gates: [String] = []

    /// The current stage. A gate that holds the request back takes precedence over later stages.
    var current: SendingStage { gates.first.map(SendingStage.gate) ?? latest }

    mutating func enter(_ stage: SendingStage) {
        if case .gate(let name) = stage { gates.append(name) } else { latest = stage }
    }

    /// Records that the request no longer waits at a gate.
    mutating func leave(gate: String) {
        if let index = gates.firstIndex(of: gate) { gates.remove(at: index) }
    }
}
