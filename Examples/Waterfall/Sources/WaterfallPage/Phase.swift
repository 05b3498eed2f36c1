import Sluice

/// A phase of an exchange, which determines its color.
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

/// A phase and its time, in milliseconds from the start of the recording.
struct Segment: Sendable {
    let phase: Phase
    let start: Double
    let duration: Double

    /// The limit for durations in files, which may hold any number: one year.
    private static let longest = 366 * 86_400_000.0

    /// Returns the phases that took time, in order.
    static func all(of entry: HAR.Entry, from start: Double) -> [Segment] {
        let timings = entry.timings
        let tls = timings.ssl.map(clamped) ?? 0
        let durations: [(Phase, Double?)] = [
            (.blocked, timings.blocked), (.dns, timings.dns),
            // The connect time includes TLS.
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
        // Some recorders write only the total time.
        if segments.isEmpty, entry.time > 0 {
            segments = [Segment(phase: .wait, start: start, duration: clamped(entry.time))]
        }
        return segments
    }

    private static func clamped(_ milliseconds: Double) -> Double {
        milliseconds.clamped(to: 0...longest)
    }
}
