import SluiceHTTP

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The elements of a response that is read while it arrives: chunks of bytes, lines or values.
///
/// ```swift
/// for try await reading in sensors.stream("readings").jsonLines(of: Reading.self) { print(reading) }
/// ```
///
/// The sequence of a ``StreamRequest`` sends the request each time it is iterated, when the first element is requested.
/// The sequence of a ``StreamedResponse`` continues with the unread rest of the body. Only as much is read as the loop
/// consumes, so a slow loop slows the server down. Cancelling the loop's task stops the transfer. So does leaving the
/// loop, unless a ``StreamedResponse`` still exists.
public struct StreamSequence<Element: Sendable, ErrorModel: ErrorSerializable>: AsyncSequence, Sendable {
    /// The request's error model.
    public typealias Failure = ErrorModel

    let request: StreamRequest<ErrorModel>
    /// The body to read; nil if iterating sends the request.
    let body: StreamedBody?
    let parser: @Sendable () -> any StreamParser<Element>

    /// Creates an iterator. If the request has not been sent yet, the first call of `next()` sends it.
    public func makeAsyncIterator() -> Iterator {
        Iterator(self)
    }

    /// Iterates over the elements.
    public struct Iterator: AsyncIteratorProtocol {
        private let request: StreamRequest<ErrorModel>
        private let parser: any StreamParser<Element>
        private var reader: ElementReader<StreamedBody.Iterator, Element>?
        /// The response body; nil before the request is sent and after the stream is over.
        private var body: StreamedBody?
        private var isBegun: Bool

        fileprivate init(_ sequence: StreamSequence) {
            request = sequence.request
            parser = sequence.parser()
            body = sequence.body
            isBegun = body != nil
            reader = body.map { ElementReader(StreamedBody.Iterator(body: $0), parser) }
        }

        /// Returns the next element, or nil at the end and after an error.
        public mutating func next(isolation actor: isolated (any Actor)?) async throws(ErrorModel) -> Element? {
            do throws(StreamFailure) {
                if !isBegun {
                    isBegun = true
                    let body = try await request.begun()
                    self.body = body
                    reader = ElementReader(StreamedBody.Iterator(body: body), parser)
                }
                if let element = try await element(isolation: actor) { return element }
            } catch {
                (reader, body) = (nil, nil)
                throw request.model(of: error)
            }
            (reader, body) = (nil, nil)
            return nil
        }

        private mutating func element(isolation actor: isolated (any Actor)?) async throws(StreamFailure) -> Element? {
            do {
                return try await reader?.next(isolation: actor)
            } catch {
                throw StreamFailure(error: body?.failed(error) ?? error)
            }
        }
    }
}
