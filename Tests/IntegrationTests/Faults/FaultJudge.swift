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
    private enum Requirement {
        /// This response.
        case response(WireResponse)
        /// An error.
        case failure
        /// This response, or an error.
        case either(WireResponse)
    }

    /// Returns a description of the problem with an outcome, or nil.
    func problem(with outcome: FaultSender.Outcome) -> String? {
        if !exchange.isIdempotent, arrivals > 1 { return "the server received the request \(arrivals) times" }
        switch (outcome, requirement) {
        case (.response(let response), .response(let right)), (.response(let response), .either(let right)):
            return response == right ? nil : "accepted \(response), expected \(right)"
        case (.response(let response), .failure):
            return "accepted \(response), expected an error"
        case (.failure(let error), .response(let right)):
            if kind.sender == .client, !(200..<300).contains(right.status), error.code == .unacceptableStatus {
                return nil
            }
            return "rejected the correct response \(right): \(error)"
        case (.failure(let error), _):
            return codes.contains(error.code) ? nil : "an unexpected error: \(error)"
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

    private var requirement: Requirement {
        let mayBeResent = exchange.reusesConnection && exchange.canBeResent
        switch kind.fault {
        case .split, .throttled, .excess, .endWhileIdle: return .response(exchange.intended)
        case .cutRequest(.hang, _), .cutContinue: return .failure
        case .cutRequest:
            guard mayBeResent else { return .failure }
            // After its head, the 100 has arrived and the connection is in use. The offset is not known here.
            if case .expectingContinue = exchange.upload { return .either(exchange.intended) }
            return .response(exchange.intended)
        case .cut(let cut, let count): return requirement(cutting: cut, after: count, mayBeResent)
        case .altered(let bytes, _): return requirement(by: bytes)
        case .alteredContinue(let bytes, _):
            // Closing a connection with unread data may cause a reset.
            if case .response(let response) = requirement(by: bytes) { return .either(response) }
            return .failure
        }
    }

    private func requirement(
        cutting cut: LoopbackResponse.Interruption,
        after count: Int,
        _ mayBeResent: Bool
    ) -> Requirement {
        if count == 0, mayBeResent, cut != .hang {
            guard case .expectingContinue = exchange.upload else { return .response(exchange.intended) }
            // The 100 has arrived, so the connection is in use, unless a reset discarded the 100.
            return cut == .reset ? .either(exchange.intended) : .failure
        }
        let bytes = exchange.wire.prefix(count)
        let reading = WireReader.read(bytes, isEnded: cut == .close, isHead: exchange.method == .head)
        guard case .success(let response) = reading else {
            // A reset may discard all bytes before it. Then the request may be sent again.
            return cut == .reset && mayBeResent ? .either(exchange.intended) : .failure
        }
        let requirement = self.requirement(by: response)
        if cut == .reset, case .response(let right) = requirement { return .either(right) }
        return requirement
    }

    private func requirement(by bytes: Data) -> Requirement {
        switch WireReader.read(bytes, isEnded: true, isHead: exchange.method == .head) {
        case .failure: .failure
        case .success(let response): requirement(by: response)
        }
    }

    /// An encoded body is correct if it decodes to the original. A truncated one is a failure.
    private func requirement(by response: WireResponse) -> Requirement {
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
