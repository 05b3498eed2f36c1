#if os(Linux)
import Foundation
import SluiceHTTP

/// Says of an outcome whether it is one that may be.
struct FaultJudge {
    let kind: FaultCase
    /// How often a whole request reached the server.
    let arrivals: Int

    private var exchange: FaultExchange { kind.exchange }

    /// What must come of it.
    private enum Demand {
        /// This response and nothing else.
        case response(WireResponse)
        /// An error and nothing else.
        case failure
        /// This response, or an error.
        case either(WireResponse)
        /// Any body, or an error: what libcurl makes of it cannot be told.
        case anyBody(WireResponse)
    }

    /// What is wrong with an outcome; nil if nothing is.
    func complaint(about outcome: FaultDoor.Outcome) -> String? {
        if !exchange.isIdempotent, arrivals > 1 { return "the server had it \(arrivals) times" }
        switch (outcome, demand) {
        case (.response(let response), .response(let right)), (.response(let response), .either(let right)):
            return response == right ? nil : "wrong but believed: \(response), where it is \(right)"
        case (.response(var response), .anyBody(let right)):
            response.body = right.body
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
            // A connection on which the 100 has come has been answered on.
            if case .asking = exchange.upload { return .either(exchange.meant) }
            return .response(exchange.meant)
        case .cut(let cut, let count):
            if count == 0, mayBeSentAgain, cut != .hang {
                if case .asking = exchange.upload { return .either(exchange.meant) }
                return .response(exchange.meant)
            }
            let isEnded = cut == .close
            let reading = WireReader.read(
                exchange.wire.prefix(count),
                isEnded: isEnded,
                isHead: exchange.method == .head
            )
            guard case .success(let response) = reading else {
                // It may be right still: where less than a line has come it may be sent again, and behind the last chunk there is
                // nothing that is missed. But a body that the end of the connection was to end does not end so.
                return exchange.isEndedByClose ? .failure : .either(exchange.meant)
            }
            let demand = self.demand(by: response)
            // A reset may overtake what was sent before it.
            if cut == .reset, case .response(let right) = demand { return .either(right) }
            return demand
        case .altered(let bytes, _):
            // As where it breaks off: where no line has come it may be sent again.
            if mayBeSentAgain, !bytes.contains(10) { return .either(exchange.meant) }
            return exchange.isInChunks ? tolerant(demand(by: bytes)) : demand(by: bytes)
        case .alteredContinue(let bytes, _):
            // To close with the body unread may be a reset.
            if case .response(let response) = demand(by: bytes) { return .either(response) }
            return .failure
        }
    }

    /// Behind the last chunk libcurl and the standard differ as to what is a fault, and nothing there belongs to the answer.
    private func tolerant(_ demand: Demand) -> Demand {
        switch demand {
        case .response(let response): .either(response)
        case .failure: .either(exchange.meant)
        case .either, .anyBody: demand
        }
    }

    private func demand(by bytes: Data) -> Demand {
        switch WireReader.read(bytes, isEnded: true, isHead: exchange.method == .head) {
        case .failure: .failure
        case .success(let response): demand(by: response)
        }
    }

    /// An encoded body is right if it is the one that was encoded; of gzip's own header some bytes mean nothing.
    private func demand(by response: WireResponse) -> Demand {
        guard response.isGzip else { return .response(response) }
        var right = response
        right.isGzip = false
        right.body = FaultExchange.text
        if response.body == FaultExchange.gzip { return .response(right) }
        // Where the damage hides the end of a gzip stream, libcurl takes what it could decode for the whole, and in chunks nothing else can
        // see it: Docs/Reliability.md says so.
        let isInChunks = right.fields.contains { $0.lowercased().hasPrefix("transfer-encoding:") }
        return isInChunks ? .anyBody(right) : .either(right)
    }
}
#endif
