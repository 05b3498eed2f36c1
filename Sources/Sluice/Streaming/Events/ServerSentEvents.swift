import SluiceHTTP

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The events of a server, over as many connections as it takes (WHATWG HTML §9.2).
///
/// ```swift
/// for try await event in shop.stream("prices").serverSentEvents() {
///     print(event.type, event.data)
/// }
/// ```
///
/// The request is sent when the first event is asked for, with `Accept: text/event-stream` and `Cache-Control: no-store` unless it
/// says something else. When the response ends or is lost it is sent again, with the last event's ID in `Last-Event-ID`, after the
/// wait that the server has asked for: see ``Reconnection``. The events end with a response of status 204, and fail with any other
/// than 200 and any other type than `text/event-stream`.
public struct ServerSentEvents<ErrorModel: ErrorSerializable>: AsyncSequence, Sendable {
    /// An event.
    public typealias Element = ServerSentEvent
    /// The request's error.
    public typealias Failure = ErrorModel

    let request: StreamRequest<ErrorModel>
    let reconnection: Reconnection
    let limit: Int

    /// Makes an iterator, which sends the request when it is first asked for an event.
    public func makeAsyncIterator() -> Iterator {
        Iterator(self)
    }

    /// Reads the events one by one.
    public struct Iterator: AsyncIteratorProtocol {
        private let request: StreamRequest<ErrorModel>
        private let limit: Int
        private var state: ReconnectionState
        private var parser: ServerSentEventParser
        private var retry: Duration?
        private var body: StreamedBody?
        private var isOver = false

        fileprivate init(_ events: ServerSentEvents) {
            request = events.request.askingForEvents()
            limit = events.limit
            state = ReconnectionState(events.request.canBeSentAgain ? events.reconnection : .none)
            parser = ServerSentEventParser(lastEventID: request.draft.headers[.lastEventID] ?? "", limit: limit)
        }

        /// The next event, nil at the end and after an error.
        public mutating func next(isolation actor: isolated (any Actor)?) async throws(ErrorModel) -> ServerSentEvent? {
            do throws(StreamFailure) {
                while !isOver {
                    var failure: StreamFailure?
                    do throws(StreamFailure) {
                        if let event = try await received(isolation: actor) { return event }
                    } catch {
                        failure = error
                    }
                    if !isOver { try await disconnect(after: failure, isolation: actor) }
                }
                return nil
            } catch {
                isOver = true
                throw request.model(of: error)
            }
        }

        /// The next event of this connection, which is made if there is none; nil at its end.
        private mutating func received(
            isolation actor: isolated (any Actor)?
        ) async throws(StreamFailure) -> ServerSentEvent? {
            if body == nil {
                parser = ServerSentEventParser(lastEventID: parser.lastEventID, limit: limit)
                body = try await request.events(after: parser.lastEventID)
                isOver = body == nil
            }
            do throws(SluiceError) {
                while let body {
                    if let event = try parser.next() {
                        state.eventArrived()
                        return event
                    }
                    guard let chunk = try await body.next(isolation: actor) else { break }
                    parser.append(chunk)
                }
            } catch {
                throw StreamFailure(error: body?.failed(error) ?? error)
            }
            return nil
        }

        /// Waits until the stream is to be asked for again, if it is.
        private mutating func disconnect(
            after failure: StreamFailure?,
            isolation actor: isolated (any Actor)?
        ) async throws(StreamFailure) {
            body = nil
            retry = parser.reconnectionTime ?? retry
            let configuration = request.client.pipeline.configuration
            switch state.decision(after: failure?.error, retry: retry, random: configuration.randomness()) {
            case .finish:
                isOver = true
            case .fail(let error):
                throw failure ?? StreamFailure(error: error)
            case .wait(let delay):
                do {
                    try await configuration.time.sleep(for: delay)
                } catch {
                    throw StreamFailure(error: .cancelled)
                }
            }
        }
    }
}

extension StreamRequest {
    /// The events of a server, over as many connections as it takes.
    ///
    /// - Parameters:
    ///   - reconnection: Whether, when and how often it connects again; as a browser does by default. ``Reconnection/none`` for
    ///     events that end with the response.
    ///   - limit: The most bytes of an event's data, and of each of its lines; 1 MiB by default.
    /// - Returns: The events; iterating them sends the request.
    public func serverSentEvents(
        reconnection: Reconnection = .standard,
        limit: Int = 1 << 20
    ) -> ServerSentEvents<ErrorModel> {
        ServerSentEvents(request: self, reconnection: reconnection, limit: limit)
    }

    /// Whether it may be sent a second time, by what it says of itself.
    fileprivate var canBeSentAgain: Bool {
        guard draft.options.isIdempotent ?? draft.method.isIdempotent else { return false }
        // Only the encoded body tells; one that cannot be encoded fails where it is sent.
        return draft.body == nil || (try? httpRequest())?.body.isReplayable ?? true
    }

    fileprivate func askingForEvents() -> StreamRequest {
        modified { draft in
            if !draft.headers.contains("Accept") { draft.headers["Accept"] = "text/event-stream" }
            if !draft.headers.contains("Cache-Control") { draft.headers["Cache-Control"] = "no-store" }
        }
    }

    /// The body of a response of events; nil if the server has none and will have none.
    fileprivate func events(after id: String) async throws(StreamFailure) -> StreamedBody? {
        let request = header(.lastEventID, id.isEmpty ? nil : id)
        let body = try await request.begun { head throws(SluiceError) in
            if head.status == .noContent { return }
            guard head.status == .ok else {
                let reason = "The server answered \(head.status), and a stream of events begins with 200."
                throw SluiceError(.unacceptableStatus, reason, step: .validation)
            }
            guard head.headers[.contentType].flatMap(ContentType.init)?.essence == "text/event-stream" else {
                let reason = "The response is no stream of events, of the content type text/event-stream."
                throw SluiceError(.unacceptableContentType, reason, step: .validation)
            }
        }
        guard body.response.head.status == .noContent else { return body }
        // Read to its end, which is told to observers.
        _ = try? await body.next(isolation: nil)
        return nil
    }
}

extension HTTPHeaderName {
    fileprivate static let lastEventID: HTTPHeaderName = "Last-Event-ID"
}
