#if os(Linux)
import Foundation
import SluiceHTTP
import SluiceTesting

/// Decides if an outcome is allowed.
struct FaultJudge {
    let kind: FaultCase
    /// The number of times that a whole request reached the server.
    let arrivals: Int

    private var exchange: FaultExchange { kind.exchange }

    /// The required outcome.
    private enum Demand {
        /// This response.
        case response(WireResponse)
        /// An error.
        case failure
        /// This response, or an error.
        case either(WireResponse)
    }

    /// Returns a description of the problem with an outcome, or nil.
    func complaint(about outcome: FaultDoor.Outcome) -> String? {
        if !exchange.isIdempotent, arrivals > 1 { return "the server had it \(arrivals) times" }
        switch (outcome, demand) {
        case (.response(let response), .response(let right)), (.response(let response), .either(let right)):
            return response == right ? nil : "wrong but believed: \(response), where it is \(right)"
        case (.response(let response), .failure):
            return "wrong but believed: \(response), where there is none"
        case (.failure(let error), .response(let right)):
            if kind.door == .client, !(200..<300).contains(right.status), error.code == .unacceptableStatus {
                return nil
            }
            return "refused though it is right: \(right), \(error)"
        case (.failure(let error), _):
            return codes.contains(error.code) ? nil : "another error than it should be: \(error)"
        }
    }

    private var codes: [SluiceError.Code] {
        if kind.fault.isHang { return [.idleTimedOut] }
        return switch kind.fault {
        case .altered, .alteredContinue:
            [.connectionLost, .truncatedBody, .invalidResponse, .headersTooLarge, .unacceptableStatus]
        case .cutRequest: [.connectionLost, .bodyNotReplayable]
        default: [.connectionLost, .truncatedBody, .invalidResponse, .bodyNotReplayable]
        }
    }

    private var demand: Demand {
        let mayBeSentAgain = exchange.isSecond && exchange.canBeSentAgain
        switch kind.fault {
        case .split, .dripped, .excess, .endWhileIdle: return .response(exchange.meant)
        case .cutRequest(.hang, _), .cutContinue: return .failure
        case .cutRequest:
            guard mayBeSentAgain else { return .failure }
            // After its head, the 100 has arrived and the connection is in use. The offset is not known here.
            if case .asking = exchange.upload { return .either(exchange.meant) }
            return .response(exchange.meant)
        case .cut(let cut, let count): return demand(cutting: cut, after: count, mayBeSentAgain)
        case .altered(let bytes, _): return demand(by: bytes)
        case .alteredContinue(let bytes, _):
            // Closing a connection with unread data may cause a reset.
            if case .response(let response) = demand(by: bytes) { return .either(response) }
            return .failure
        }
    }

    private func demand(cutting cut: LoopbackResponse.Cut, after count: Int, _ mayBeSentAgain: Bool) -> Demand {
        if count == 0, mayBeSentAgain, cut != .hang {
            guard case .asking = exchange.upload else { return .response(exchange.meant) }
            // The 100 has arrived, so the connection is in use, unless a reset discarded the 100.
            return cut == .reset ? .either(exchange.meant) : .failure
        }
        let bytes = exchange.wire.prefix(count)
        let reading = WireReader.read(bytes, isEnded: cut == .close, isHead: exchange.method == .head)
        guard case .success(let response) = reading else {
            // A reset may discard all bytes before it. Then the request may be sent again.
            return cut == .reset && mayBeSentAgain ? .either(exchange.meant) : .failure
        }
        let demand = self.demand(by: response)
        if cut == .reset, case .response(let right) = demand { return .either(right) }
        return demand
    }

    private func demand(by bytes: Data) -> Demand {
        switch WireReader.read(bytes, isEnded: true, isHead: exchange.method == .head) {
        case .failure: .failure
        case .success(let response): demand(by: response)
        }
    }

    /// An encoded body is correct if it decodes to the original. A truncated one is a failure.
    private func demand(by response: WireResponse) -> Demand {
        guard response.isGzip else { return .response(response) }
        var right = response
        right.isGzip = false
        right.body = FaultExchange.text
        if response.body == FaultExchange.gzip { return .response(right) }
        if FaultExchange.gzip.starts(with: response.body) { return .failure }
        // The reference reader has no decoder. Some bytes of the gzip header are ignored, and zeros after the end are padding.
        // All other damage must fail.
        return .either(right)
    }
}
#endif
