#if os(Linux)
import Foundation
import SluiceTesting

/// One exchange with one fault, and the outcomes that it allows.
struct FaultCase: Sendable, CustomStringConvertible {
    let exchange: FaultExchange
    let fault: WireFault
    let sender: FaultSender

    var description: String { "\(exchange.name), \(fault), with the \(sender)" }

    /// The response to the first request.
    var response: LoopbackResponse {
        let wire = exchange.wire
        let end: [LoopbackResponse.Step] = exchange.isEndedByClose ? [.close] : []
        switch fault {
        case .cut(let cut, let count): return .script([.write(wire.prefix(count)), cut.step])
        case .altered(let bytes, _): return .raw(bytes, thenClose: true)
        case .excess(let bytes, isLate: false): return .script([.write(wire + bytes)])
        case .excess(let bytes, isLate: true): return .script([.write(wire), .pause(.milliseconds(1)), .write(bytes)])
        case .split(let count):
            return .script([.write(wire.prefix(count)), .pause(.milliseconds(1)), .write(wire.dropFirst(count))] + end)
        case .throttled: return .script(wire.flatMap { [.write(Data([$0])), .pause(.zero)] } + end)
        case .cutRequest, .cutContinue, .alteredContinue, .endWhileIdle: return .script([.write(wire)] + end)
        }
    }

    /// The response if the request is sent again: the intended one.
    var wholeResponse: LoopbackResponse {
        .script([.write(exchange.wire)] + (exchange.isEndedByClose ? [.close] : []))
    }

    /// The response to `Expect: 100-continue`.
    var expectation: LoopbackExpectation {
        switch fault {
        case .cutContinue(let cut, let count):
            .refused(.script([.write(WireFault.continue.prefix(count)), cut.step]))
        case .alteredContinue(let bytes, _): .refused(.raw(bytes, thenClose: true))
        default: .continue
        }
    }

    /// True if the request uses the kept connection.
    var usesKeptConnection: Bool {
        switch fault {
        case .cutRequest, .cutContinue, .alteredContinue, .endWhileIdle: false
        default: true
        }
    }
}

extension LoopbackResponse.Interruption {
    fileprivate var step: LoopbackResponse.Step {
        switch self {
        case .close: .close
        case .reset: .reset
        case .hang: .hang
        }
    }
}
#endif
