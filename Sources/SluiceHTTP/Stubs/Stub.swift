#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// What answers a request in the server's place, in tests and previews that have none.
///
/// ```swift
/// let request = client.codable.get("users/1", as: User.self)
///     .stub(.json(#"{"id":1,"name":"Ada"}"#).delayed(by: .seconds(1)), mode: .immediate)
/// ```
///
/// A request's stub takes the transport's place; all other steps of the pipeline run as ever. Time passes by the client's ``TimeSource``,
/// and a delay or gap that is longer than a time-out of the request ends it as that time-out would.
public struct Stub: Sendable {
    enum Answer: Sendable {
        case response(HTTPResponse, Data)
        case file(HTTPResponse, URL)
        case failure(SluiceError)
        case sequence(StubSequence)
        case closure(@Sendable (HTTPRequest) async throws -> Stub)
    }

    /// So many bytes at a time, and how long it takes until the next.
    struct Pace: Sendable {
        let bytes: Int
        let gap: Duration
    }

    /// Where the connection is lost within the response's body.
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

    /// The same answer after a delay, in addition to any it has.
    public func delayed(by delay: Duration) -> Stub {
        var stub = self
        stub.delay += delay
        return stub
    }

    /// The same answer, whose body comes in chunks, so that a loop over download progress or a stream has something to see.
    ///
    /// No chunk is given before the one ahead of it has been read.
    ///
    /// - Parameters:
    ///   - bytes: The length of a chunk; at least 1.
    ///   - gap: How long it takes from one to the next; none by default.
    /// - Returns: The stub with that pace.
    public func streamed(by bytes: Int, every gap: Duration = .zero) -> Stub {
        var stub = self
        stub.download = Pace(bytes: max(1, bytes), gap: gap)
        return stub
    }

    /// The same answer, once the request's body has been taken in chunks, so that a loop over upload progress has something to see.
    ///
    /// - Parameters:
    ///   - bytes: The length of a chunk; at least 1.
    ///   - gap: How long it takes from one to the next; none by default.
    /// - Returns: The stub with that pace.
    public func uploading(by bytes: Int, every gap: Duration = .zero) -> Stub {
        var stub = self
        stub.upload = Pace(bytes: max(1, bytes), gap: gap)
        return stub
    }

    /// The same answer, whose body is not whole: the connection is lost behind so many bytes.
    ///
    /// - Parameters:
    ///   - bytes: How much of the body comes; all of a shorter one.
    ///   - code: What it fails with then.
    /// - Returns: The stub that breaks off.
    public func truncated(after bytes: Int, _ code: SluiceError.Code = .truncatedBody) -> Stub {
        var stub = self
        stub.breaksOff = Break(
            bytes: max(0, bytes),
            error: SluiceError(code, "The stub breaks the response off after \(bytes) bytes.")
        )
        return stub
    }

    /// The same answer with a trailer section behind its body (RFC 9110 §6.5).
    ///
    /// - Parameter trailers: The fields of the section; they take the place of any that the stub has.
    /// - Returns: The stub; a response that has no body has no trailers either.
    public func trailing(_ trailers: HTTPHeaders) -> Stub {
        var stub = self
        stub.trailers = trailers
        return stub
    }
}

extension Stub {
    /// The stub whose turn it is, with what is said of all of its sequence where it says nothing itself.
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

    /// Whether all there is to it is its answer.
    var isPlain: Bool { delay <= .zero && upload == nil && download == nil && breaksOff == nil }
}

extension Stub: CustomReflectable {
    /// Its delay; what it answers may hold secrets, as a server's answer may.
    public var customMirror: Mirror { Mirror(self, children: ["delay": delay], displayStyle: .struct) }
}
