import Foundation
import SluiceTesting

/// What goes wrong in an exchange.
enum WireFault: Sendable {
    /// The answer breaks off after so many bytes.
    case cut(LoopbackResponse.Cut, after: Int)
    /// The server breaks off when it has read so many bytes of the request.
    case cutRequest(LoopbackResponse.Cut, after: Int)
    /// The 100 that was asked for breaks off.
    case cutContinue(LoopbackResponse.Cut, after: Int)
    /// Other bytes in the answer's place, and the connection closed.
    case altered(Data, String)
    /// Other bytes in the place of the 100, and the connection closed.
    case alteredContinue(Data, String)
    /// More bytes behind the answer, at once or after it has been taken in, and the connection left open.
    case excess(Data, isLate: Bool)
    /// The connection, which had been kept open, ends before the request is sent.
    case endWhileIdle(LoopbackResponse.Cut)
    /// Nothing is wrong, but the answer comes in two pieces.
    case split(after: Int)
    /// Nothing is wrong, but the answer comes byte by byte.
    case dripped

    static let `continue` = Data("HTTP/1.1 100 Continue\r\n\r\n".utf8)

    var isHang: Bool {
        switch self {
        case .cut(.hang, _), .cutRequest(.hang, _), .cutContinue(.hang, _): true
        default: false
        }
    }
}

extension FaultExchange {
    /// Every end at every boundary of the answer, its last one included; a server may fall silent there too, but only where that is in
    /// the middle of the answer still.
    var cuts: [WireFault] {
        let cuts = [LoopbackResponse.Cut.close, .reset].flatMap { cut in
            (0...wire.count).map { WireFault.cut(cut, after: $0) }
        }
        return cuts + (0..<wire.count + (isEndedByClose ? 1 : 0)).map { WireFault.cut(.hang, after: $0) }
    }

    /// Every end at every boundary of a request of so many bytes.
    func requestCuts(_ length: Int) -> [WireFault] {
        [.close, .reset, .hang].flatMap { cut in
            (0..<length).map { WireFault.cutRequest(cut, after: $0) }
        }
    }

    /// Every end at every boundary of the 100, and each of its bits turned over.
    static var continueFaults: [WireFault] {
        let cuts = [LoopbackResponse.Cut.close, .reset, .hang].flatMap { cut in
            (0..<WireFault.continue.count).map { WireFault.cutContinue(cut, after: $0) }
        }
        return cuts + flips(of: WireFault.continue).map { .alteredContinue($0, $1) }
    }

    /// Each bit turned over; from each boundary on random bytes; random bytes put in at each boundary; each byte left out.
    func garbage(seed: UInt64) -> [WireFault] {
        var random = SeededGenerator(seed: seed)
        var altered = FaultExchange.flips(of: wire)
        for place in 0...wire.count {
            let noise = { (count: Int) in Data((0..<count).map { _ in UInt8.random(in: 0...255, using: &random) }) }
            let (before, after) = (wire.prefix(place), wire.dropFirst(place))
            altered.append((before + noise(max(1, after.count)), "noise from \(place)"))
            altered.append((before + noise(Int.random(in: 1...3, using: &random)) + after, "noise put in at \(place)"))
            if !after.isEmpty { altered.append((before + after.dropFirst(), "without byte \(place)")) }
        }
        return altered.map { .altered($0, $1) }
    }

    /// All ways of taking the answer in two pieces, and the one byte by byte.
    var slow: [WireFault] {
        (1..<wire.count).map { .split(after: $0) } + [.dripped]
    }

    /// What a server may have left behind an answer.
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
