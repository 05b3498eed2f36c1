#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Consumes a request's body in place of a transport.
struct StubUpload {
    let pace: Stub.Pace?
    let clock: StubClock
    let run: TransferMeter.Run?
    /// True to keep the bytes.
    let keepsBytes: Bool
    private var count: Int64 = 0
    private var bytes = Data()

    init(_ pace: Stub.Pace?, _ clock: StubClock, _ run: TransferMeter.Run?, keepsBytes: Bool) {
        self.pace = pace
        self.clock = clock
        self.run = run
        self.keepsBytes = keepsBytes
    }

    /// Reads the whole body. Returns its length, and its bytes if they are to be kept.
    static func take(
        _ body: HTTPBody,
        _ pace: Stub.Pace?,
        _ clock: StubClock,
        _ run: TransferMeter.Run?,
        keepsBytes: Bool
    ) async throws(SluiceError) -> (count: Int64, bytes: Data) {
        var upload = StubUpload(pace, clock, run, keepsBytes: keepsBytes)
        let body = try await body.prepared(within: clock.left, on: clock.time)
        switch body.source {
        case .none: break
        case .data(let data): try await upload.add(data)
        case .stream(let stream): try await upload.read(stream, announced: body.length)
        case .file, .deferred: throw SluiceError(.unsupported, "The request's body could not be prepared.")
        }
        return (upload.count, upload.bytes)
    }

    private mutating func read(_ stream: HTTPBody.Stream, announced: Int64?) async throws(SluiceError) {
        let reader = StubStreamReader(stream)
        defer { reader.end() }
        while let chunk = try await clock.timed({ () async throws(SluiceError) in try await reader.next() }) {
            if Task.isCancelled { throw .cancelled }
            if let announced, count + Int64(chunk.count) > announced { throw .mismatch(announced) }
            try await add(chunk)
        }
        if let announced, count < announced { throw .mismatch(announced) }
    }

    private mutating func add(_ chunk: Data) async throws(SluiceError) {
        if keepsBytes { bytes.append(chunk) }
        var rest = chunk
        while !rest.isEmpty {
            let piece = pace.map { min($0.bytes, rest.count) } ?? rest.count
            if let pace, count > 0 { try await clock.wait(pace.gap) }
            rest = rest.dropFirst(piece)
            count += Int64(piece)
            run?.sent(count)
        }
    }
}

extension SluiceError {
    fileprivate static func mismatch(_ announced: Int64) -> SluiceError {
        SluiceError(
            .bodyLengthMismatch,
            "The request's body is not as long as the \(announced) bytes it had announced."
        )
    }
}
