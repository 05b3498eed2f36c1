import SluiceHTTP

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// What arrives of a response, as elements of one kind: chunks of bytes, lines, values.
///
/// ```swift
/// for try await reading in sensors.stream("readings").jsonLines(of: Reading.self) { print(reading) }
/// ```
///
/// That of a ``StreamRequest`` sends the request each time it is iterated, when the first element is asked for; that of a
/// ``StreamedResponse`` goes on with what has not been read yet. No more is read than the loop wants: a slow one slows the server
/// down. Cancelling the loop's task stops the transfer; so does leaving the loop, unless a ``StreamedResponse`` still holds it.
public struct StreamSequence<Element: Sendable, ErrorModel: ErrorSerializable>: AsyncSequence, Sendable {
    /// The request's error.
    public typealias Failure = ErrorModel

    let request: StreamRequest<ErrorModel>
    /// Nil where iterating sends the request.
    let body: StreamedBody?
    let parser: @Sendable () -> any StreamParser<Element>

    /// Makes an iterator, which sends the request when it is first asked for an element.
    public func makeAsyncIterator() -> Iterator {
        Iterator(self)
    }

    /// Reads the elements one by one.
    public struct Iterator: AsyncIteratorProtocol {
        private let request: StreamRequest<ErrorModel>
        private let parser: any StreamParser<Element>
        private var reader: ElementReader<StreamedBody.Iterator, Element>?
        /// Nil before the request is sent, and once the stream is over.
        private var body: StreamedBody?
        private var isBegun: Bool

        fileprivate init(_ sequence: StreamSequence) {
            request = sequence.request
            parser = sequence.parser()
            body = sequence.body
            isBegun = body != nil
            reader = body.map { ElementReader(StreamedBody.Iterator(body: $0), parser) }
        }

        /// The next element, nil at the end and after an error.
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
