import Foundation
import OpenAPIRuntime
import Sluice

extension RequestBody {
    /// Creates a body that reads the chunks of another while it is sent.
    init(_ body: HTTPBody) {
        let length: Int64? =
            switch body.length {
            case .known(let length): length
            case .unknown: nil
            }
        self = .stream(body, length: length, isReplayable: body.iterationBehavior == .multiple)
    }
}

extension HTTPBody {
    /// Creates a body that receives the response while it is read. It can be iterated once.
    convenience init(_ response: StreamedResponse<APIError>) {
        self.init(ResponseChunks(response: response), length: Length(response.head), iterationBehavior: .single)
    }
}

extension HTTPBody.Length {
    /// Reads the length from the head. That of an encoded body is not the length of the decoded one.
    fileprivate init(_ head: HTTPResponse) {
        if !head.headers.contains(.contentEncoding), let length = head.headers[.contentLength].flatMap(Int64.init) {
            self = .known(length)
        } else {
            self = .unknown
        }
    }
}

/// The chunks of a response, whose transfer stops when they are released.
private struct ResponseChunks: AsyncSequence, Sendable {
    let response: StreamedResponse<APIError>

    struct Iterator: AsyncIteratorProtocol {
        var bytes: StreamSequence<Data, APIError>.AsyncIterator

        /// Returns the next chunk; nil at the end. Throws a `SluiceError`.
        mutating func next() async throws -> ArraySlice<UInt8>? {
            do {
                return try await bytes.next(isolation: nil).map { ArraySlice($0) }
            } catch {
                throw error.error
            }
        }
    }

    func makeAsyncIterator() -> Iterator { Iterator(bytes: response.bytes.makeAsyncIterator()) }
}
