#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A predefined response to a request, for tests and previews without a server.
///
/// ```swift
/// let request = client.codable.get("users/1", as: User.self)
///     .stub(.json(#"{"id":1,"name":"Ada"}"#).delayed(by: .seconds(1)), mode: .immediate)
/// ```
///
/// A request's stub replaces the transport; all other steps of the pipeline run as usual. Delays use the client's
/// ``TimeSource``. A delay or gap that exceeds one of the request's time-outs fails the request with that time-out's
/// error.
public struct Stub: Sendable {
    enum Answer: Sendable {
        case response(HTTPResponse, Data)
        case file(HTTPResponse, URL)
        case failure(SluiceError)
        case sequence(StubSequence)
        case closure(@Sendable (HTTPRequest) async throws -> Stub)
    }

    /// The pace of a body: the size of a chunk and the pause between chunks.
    struct Pace: Sendable {
        let bytes: Int
        let gap: Duration
    }

    /// The position in the response's body where the connection is lost, and the resulting error.
    struct Break: Sendable {
        let bytes: Int
        let error: SluiceError
    }

    var answer: Answer
    var delay = Duration.zero
    var upload: Pace?
    var download: Pace?
    var breaksOff: Break?
    var trailers = HTTPHeaders()

    init(_ answer: Answer) {
        self.answer = answer
    }

    /// Returns the stub with a delay added.
    public func delayed(by delay: Duration) -> Stub {
        var stub = self
        stub.delay += delay
        return stub
    }

    /// Returns the stub with a body that arrives in chunks, for tests of download progress or streams.
    ///
    /// Each chunk is sent only after the previous one has been read.
    ///
    /// - Parameters:
    ///   - bytes: The length of a chunk; at least 1.
    ///   - gap: The pause between chunks; none by default.
    /// - Returns: The stub with that pace.
    public func streamed(by bytes: Int, every gap: Duration = .zero) -> Stub {
        var stub = self
        stub.download = Pace(bytes: max(1, bytes), gap: gap)
        return stub
    }

    /// Returns the stub with a request body that is received in chunks before the response, for tests of upload
    /// progress.
    ///
    /// - Parameters:
    ///   - bytes: The length of a chunk; at least 1.
    ///   - gap: The pause between chunks; none by default.
    /// - Returns: The stub with that pace.
    public func uploading(by bytes: Int, every gap: Duration = .zero) -> Stub {
        var stub = self
        stub.upload = Pace(bytes: max(1, bytes), gap: gap)
        return stub
    }

    /// Returns the stub with a truncated body: the connection is lost after a number of bytes.
    ///
    /// - Parameters:
    ///   - bytes: The number of bytes to deliver. A shorter body is delivered completely.
    ///   - code: The code of the resulting error.
    /// - Returns: The truncated stub.
    public func truncated(after bytes: Int, _ code: SluiceError.Code = .truncatedBody) -> Stub {
        var stub = self
        stub.breaksOff = Break(
            bytes: max(0, bytes),
            error: SluiceError(code, "The stub breaks the response off after \(bytes) bytes.")
        )
        return stub
    }

    /// Returns the stub with a trailer section (RFC 9110 §6.5).
    ///
    /// - Parameter trailers: The fields of the section, which replace any existing ones.
    /// - Returns: The stub. A response without a body has no trailers either.
    public func trailing(_ trailers: HTTPHeaders) -> Stub {
        var stub = self
        stub.trailers = trailers
        return stub
    }
}

extension Stub {
    /// Returns the next stub of a sequence, or the stub itself.
    ///
    /// The sequence's delay is added. Its other settings apply if the next stub does not set them.
    func next() throws(SluiceError) -> Stub {
        guard case .sequence(let sequence) = answer else { return self }
        var next = try sequence.take().next()
        next.delay += delay
        next.upload = next.upload ?? upload
        next.download = next.download ?? download
        next.breaksOff = next.breaksOff ?? breaksOff
        if next.trailers.isEmpty { next.trailers = trailers }
        return next
    }

    /// True if the stub has no delay, pace or truncation.
    var isPlain: Bool { delay <= .zero && upload == nil && download == nil && breaksOff == nil }
}

extension Stub: CustomReflectable {
    /// The delay only, since the response may contain secrets.
    public var customMirror: Mirror { Mirror(self, children: ["delay": delay], displayStyle: .struct) }
}
