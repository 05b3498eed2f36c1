#if os(Linux)
#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif
import SluiceHTTP

@testable import SluiceEngine
#endif

extension FuzzTarget {
    /// Parses the number of requests, and then the bytes of an HTTP/2 server. Nothing traps, the client's output is bounded, and
    /// an error is plain text. The cuts do not change the result of a session without errors.
    static let http2Session = FuzzTarget("http2-session") { bytes in
        #if os(Linux)
        var input = FuzzInput(bytes)
        let count = 1 + input.digit() % 4
        let all = Array(input.rest)
        let pieces = input.pieces().map { Array($0) }
        guard var whole = try SessionRun(requests: count), var cut = try SessionRun(requests: count) else { return }
        try whole.receive(all)
        for piece in pieces { try cut.receive(piece) }
        if whole.hasFailed || cut.hasFailed { return }
        try require(whole.ends == cut.ends, "The pieces end with \(cut.ends), the whole with \(whole.ends).")
        #endif
    }
}

#if os(Linux)
/// A connection that carries requests without a socket.
private final class SilentCarrier: RequestCarrier {
    func abandon(_ call: Call) {}
    func bodyHasMore(of call: Call) {}
    func makePipe(for call: Call) -> ResponsePipe { ResponsePipe(highWater: .max, onDemand: {}, onAbandon: {}) }
}

/// The client's side of a connection, fed with a server's bytes.
private struct SessionRun {
    private static let pool = Engine.available.map { ConnectionPool(SocketTransport.Configuration(), $0) }

    private let carrier = SilentCarrier()
    private let session: HTTP2Session
    private let now = MonotonicTime(nanoseconds: 1_000_000_000)
    private var output = OutputQueue()
    private var received = 0
    private var sent = 0
    /// The outcomes of the requests by stream ID.
    private(set) var ends: [Int32: String] = [:]
    private(set) var hasFailed = false

    init?(requests: Int) throws {
        let pool = try SessionRun.pool.get()
        guard let session = HTTP2Session(at: now) else { return nil }
        self.session = session
        for number in 0..<requests {
            let method: HTTPMethod = [.get, .head, .post, .get][number % 4]
            let request = HTTPRequest(method: method, scheme: "http", authority: "a", path: "/\(number)")
            let call = Call(
                request,
                upload: method == .post ? .data("abc".data) : .none,
                context: TransferContext(limits: ResponseLimits(headers: 512)),
                plan: .standard,
                origin: request.origin,
                pool: pool,
                started: now,
                completion: { _ in }
            )
            let stream = HTTP2Stream(
                call,
                on: carrier,
                isReused: false,
                began: now,
                timings: ConnectionTimings(),
                now: now
            )
            var (head, hasBody) = stream.start(now: now)
            try require(session.submit(stream, &head, hasBody: hasBody), "A new session rejects a request.")
        }
        try send()
    }

    mutating func receive(_ bytes: [UInt8]) throws {
        if session.failure != nil { return }
        received += bytes.count
        var budget = 1 << 20
        bytes.withUnsafeBytes { session.receive($0, budget: &budget, at: now) }
        for _ in 0..<100 where !session.undecoded.isEmpty {
            budget = 1 << 20
            session.decodeMore(budget: &budget, at: now)
        }
        settle()
        try send()
        settle()
        guard let failure = session.failure else { return }
        hasFailed = true
        try check(failure)
    }

    private mutating func settle() {
        for stream in session.takeTouched() {
            switch stream.outcome() {
            case .complete?:
                stream.finish(now: now, remoteAddress: nil)
                ends[stream.id] = "\(stream.head?.status.rawValue ?? 0) with \(stream.receivedEncoded) bytes"
                session.remove(stream)
            case .failed(let error)?:
                hasFailed = true
                stream.fail(error)
                session.remove(stream)
            case .needsInput?, .blocked?, nil:
                if stream.isClosed, !stream.hasEnded {
                    ends[stream.id] = "reset \(stream.closeCode)"
                    hasFailed = true
                    stream.fail(.cancelled)
                    session.remove(stream)
                } else {
                    stream.flush()
                }
            }
            _ = stream.takeAnswer()
            _ = stream.takeBodyEnd()
        }
    }

    private mutating func send() throws {
        repeat {
            output.removeAll()
            session.fill(&output, upTo: 1 << 16, at: now)
            sent += output.count
        } while !output.isEmpty
        try require(sent <= 4096 + 20 * received, "The client sends \(sent) bytes after receiving \(received).")
    }

    private func check(_ error: SluiceError) throws {
        let isPlain = error.description.unicodeScalars.allSatisfy { $0.value >= 32 && $0.value != 127 }
        try require(isPlain, "An error contains a control character.")
    }
}

extension String {
    fileprivate var data: Data { Data(utf8) }
}
#endif
