import SluiceHTTP

/// Where a request is on its way, to be told when its time is up there.
enum SendingStage: Sendable, Equatable {
    case beginning
    case gate(String)
    case requestInterceptors
    case transport
    case responseInterceptors
    /// Between two attempts.
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

    /// The end of a sentence.
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

/// The stages of all attempts of a request, some of which may be under way at once.
struct SendingStages: Sendable {
    private var latest = SendingStage.beginning
    /// The gates that it waits at, the one it came to first in front.
    private var gates: [String] = []

    /// A gate that does not let it pass holds up all that is behind.
    var current: SendingStage { gates.first.map(SendingStage.gate) ?? latest }

    mutating func enter(_ stage: SendingStage) {
        if case .gate(let name) = stage { gates.append(name) } else { latest = stage }
    }

    /// It no longer waits at a gate.
    mutating func leave(gate: String) {
        if let index = gates.firstIndex(of: gate) { gates.remove(at: index) }
    }
}
