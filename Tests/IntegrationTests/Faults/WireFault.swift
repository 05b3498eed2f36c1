import Foundation
import SluiceTesting

/// A fault in an exchange.
enum WireFault: Sendable {
    /// The response ends after a number of bytes.
    case cut(LoopbackResponse.Interruption, after: Int)
    /// The server ends after it has read a number of bytes of the request.
    case cutRequest(LoopbackResponse.Interruption, after: Int)
    /// The 100 response ends after a number of bytes.
    case cutContinue(LoopbackResponse.Interruption, after: Int)
    /// Other bytes replace the response, and the connection closes.
    case altered(Data, String)
    /// Other bytes replace the 100 response, and the connection closes.
    case alteredContinue(Data, String)
    /// More bytes follow the response, at once or after the client has read it. The connection stays open.
    case excess(Data, isLate: Bool)
    /// The kept connection ends before the request is sent.
    case endWhileIdle(LoopbackResponse.Interruption)
    /// No fault, but the response arrives in two pieces.
    case split(after: Int)
    /// No fault, but the response arrives byte by byte.
    case throttled

    static let `continue` = Data("HTTP/1.1 100 Continue\r\n\r\n".utf8)

    var isHang: Bool {
        switch self {
        case .cut(.hang, _), .cutRequest(.hang, _), .cutContinue(.hang, _): true
        default: false
        }
    }
}

extension FaultExchange {
    /// Every kind of end at every offset of the response, including the last. The server stalls only at offsets within the
    /// response.
    var cuts: [WireFault] {
        let cuts = [LoopbackResponse.Interruption.close, .reset].flatMap { cut in
            (0...wire.count).map { WireFault.cut(cut, after: $0) }
        }
        return cuts + (0..<wire.count + (isEndedByClose ? 1 : 0)).map { WireFault.cut(.hang, after: $0) }
    }

    /// Every kind of end at every offset of a request.
    func requestCuts(_ length: Int) -> [WireFault] {
        [.close, .reset, .hang].flatMap { cut in
            (0..<length).map { WireFault.cutRequest(cut, after: $0) }
        }
    }

    /// Every kind of end at every offset of the 100 response, and each of its bits flipped.
    static var continueFaults: [WireFault] {
        let cuts = [LoopbackResponse.Interruption.close, .reset, .hang].flatMap { cut in
            (0..<WireFault.continue.count).map { WireFault.cutContinue(cut, after: $0) }
        }
        return cuts + flips(of: WireFault.continue).map { .alteredContinue($0, $1) }
    }

    /// Flips each bit, replaces the rest with random bytes from each offset, inserts random bytes at each offset, and removes
    /// each byte.
    func garbage(seed: UInt64) -> [WireFault] {
        var random = SeededGenerator(seed: seed)
        var altered = FaultExchange.flips(of: wire)
        for place in 0...wire.count {
            let noise = { (count: Int) in Data((0..<count).map { _ in UInt8.random(in: 0...255, using: &random) }) }
            let (before, after) = (wire.prefix(place), wire.dropFirst(place))
            altered.append((before + noise(max(1, after.count)), "noise from \(place)"))
            altered.append(
                (before + noise(Int.random(in: 1...3, using: &random)) + after, "noise inserted at \(place)")
            )
            if !after.isEmpty { altered.append((before + after.dropFirst(), "without byte \(place)")) }
        }
        return altered.map { .altered($0, $1) }
    }

    /// Every split of the response in two pieces, and the response byte by byte.
    var slow: [WireFault] {
        (1..<wire.count).map { .split(after: $0) } + [.throttled]
    }

    /// The bytes that a server may leave after a response.
    static var excesses: [WireFault] {
        let answer = "HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\npoison"
        return ["\r\n", "x", "0\r\n\r\n", answer, answer + answer, String(repeating: "x", count: 70_000)]
            .flatMap { [WireFault.excess(Data($0.utf8), isLate: false), .excess(Data($0.utf8), isLate: true)] }
    }

    private static func flips(of wire: Data) -> [(Data, String)] {
        wire.indices.flatMap { place in
            (0..<8).map { bit in
                var flipped = wire
                flipped[place] ^= 1 << bit
                return (flipped, "bit \(bit) of byte \(place)")
            }
        }
    }
}
