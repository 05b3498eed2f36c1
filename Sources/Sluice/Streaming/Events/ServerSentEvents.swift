import SluiceFoundation
import SluiceHTTP

/// The events of a server, received over one or more connections (WHATWG HTML §9.2).
///
/// ```swift
/// for try await event in shop.stream("prices").serverSentEvents() {
///     print(event.type, event.data)
/// }
/// ```
///
/// The first call of `next()` sends the request. It sends `Accept: text/event-stream` and `Cache-Control: no-store`
/// unless the request sets these headers. When the response ends or fails, the request is sent again with the last
/// event ID in `Last-Event-ID`, after the delay that the server requests: see ``Reconnection``. A response with status
/// 204 ends the events. Any other status than 200, and any other content type than `text/event-stream`, fails them.
public struct ServerSentEvents<ErrorModel: ErrorSerializable>: AsyncSequence, Sendable {
    let request: StreamRequest<ErrorModel>
    let reconnection: Reconnection
    let limit: Int

    /// Creates an iterator. The first call of its `next()` sends the request.
    public func makeAsyncIterator() -> Iterator {
        Iterator(self)
    }

    /// Iterates over the events.
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

        /// Returns the next event, or nil at the end and after an error.
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

        /// Returns the next event of the current connection, or nil at its end. Connects first if there is no
        /// connection.
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

        /// Ends the current connection. Waits until it is time to reconnect, or ends the events.
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
                    try await configuration.clock.sleep(for: delay)
                } catch {
                    throw StreamFailure(error: .cancelled)
                }
            }
        }
    }
}

extension StreamRequest {
    /// The events of a server, received over one or more connections.
    ///
    /// - Parameters:
    ///   - reconnection: The reconnection policy; that of a browser by default. With ``Reconnection/none`` the events
    ///     end with the response.
    ///   - limit: The maximum size of an event's data, and of each line, in bytes; 1 MiB by default.
    /// - Returns: The events. Iterating over them sends the request.
    public func serverSentEvents(
        reconnection: Reconnection = .standard,
        limit: Int = 1 << 20
    ) -> ServerSentEvents<ErrorModel> {
        ServerSentEvents(request: self, reconnection: reconnection, limit: limit)
    }

    /// True if the request may be sent again: it is idempotent and its body is replayable.
    fileprivate var canBeSentAgain: Bool {
        guard draft.options.isIdempotent ?? draft.method.isIdempotent else { return false }
        // Replayability is a property of the encoded body. A body that cannot be encoded fails later, when it is sent.
        return draft.body == nil || (try? httpRequest())?.body.isReplayable ?? true
    }

    fileprivate func askingForEvents() -> StreamRequest {
        modified { draft in
            if !draft.headers.contains("Accept") { draft.headers["Accept"] = "text/event-stream" }
            if !draft.headers.contains("Cache-Control") { draft.headers["Cache-Control"] = "no-store" }
        }
    }

    /// Sends the request and returns the response body, or nil if the server responded with 204 (No Content).
    fileprivate func events(after id: String) async throws(StreamFailure) -> StreamedBody? {
        let request = header(.lastEventID, id.isEmpty ? nil : id)
        let body = try await request.begun { head throws(SluiceError) in
            if head.status == .noContent { return }
            guard head.status == .ok else {
                let reason = "The server responded with status \(head.status), but an event stream requires status 200."
                throw SluiceError(.unacceptableStatus, reason, step: .validation)
            }
            guard head.headers[.contentType].flatMap(ContentType.init)?.essence == "text/event-stream" else {
                let reason = "The response is not an event stream: its content type is not text/event-stream."
                throw SluiceError(.unacceptableContentType, reason, step: .validation)
            }
        }
        guard body.response.head.status == .noContent else { return body }
        // Read the body to its end, so that observers are notified of it.
        _ = try? await body.next(isolation: nil)
        return nil
    }
}
