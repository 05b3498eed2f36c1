import Sluice

/// A part of an exchange, as it is coloured.
enum Phase: String, CaseIterable, Sendable {
    case blocked, dns, connect, tls, send, wait, receive

    var label: String {
        switch self {
        case .blocked: "Blocked"
        case .dns: "DNS"
        case .connect: "Connect"
        case .tls: "TLS"
        case .send: "Send"
        case .wait: "Wait"
        case .receive: "Receive"
        }
    }

    var meaning: String {
        switch self {
        case .blocked: "at gates and for a connection"
        case .dns: "resolving the name"
        case .connect: "opening the connection"
        case .tls: "the TLS handshake"
        case .send: "sending the request"
        case .wait: "until the first byte"
        case .receive: "until the last byte"
        }
    }
}

/// A phase with its time, in milliseconds from the first begin.
struct Segment: Sendable {
    let phase: Phase
    let start: Double
    let duration: Double

    /// What a file says may be anything; no exchange takes longer than a year.
    private static let longest = 366 * 86_400_000.0

    /// The phases that took time, one behind the other.
    static func all(of entry: HAR.Entry, from start: Double) -> [Segment] {
        let timings = entry.timings
        let tls = timings.ssl.map(clamped) ?? 0
        let durations: [(Phase, Double?)] = [
            (.blocked, timings.blocked), (.dns, timings.dns),
            // TLS is a part of connecting.
            (.connect, timings.connect.map { max(0, clamped($0) - tls) }), (.tls, tls),
            (.send, timings.send), (.wait, timings.wait), (.receive, timings.receive),
        ]
        var segments: [Segment] = []
        var end = start
        for (phase, duration) in durations {
            guard let duration = duration.map(clamped), duration > 0 else { continue }
            segments.append(Segment(phase: phase, start: end, duration: duration))
            end += duration
        }
        // Some recorders know only how long it took.
        if segments.isEmpty, entry.time > 0 {
            segments = [Segment(phase: .wait, start: start, duration: clamped(entry.time))]
        }
        return segments
    }

    private static func clamped(_ milliseconds: Double) -> Double {
        milliseconds.clamped(to: 0...longest)
    }
}
