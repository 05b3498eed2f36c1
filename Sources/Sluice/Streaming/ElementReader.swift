import SluiceHTTP

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Reads chunks and returns the elements that a parser makes from them, one at a time. Waits only if the next element
/// is not complete yet.
struct ElementReader<Chunks: AsyncIteratorProtocol, Element: Sendable>
where Chunks.Element == Data, Chunks.Failure == SluiceError {
    /// The source of chunks. Set to nil once the stream is over, so that the sender can stop.
    private var chunks: Chunks?
    private(set) var parser: any StreamParser<Element>
    private var isFinished = false

    init(_ chunks: Chunks, _ parser: any StreamParser<Element>) {
        self.chunks = chunks
        self.parser = parser
    }

    /// Returns the next element, or nil at the end and after an error.
    mutating func next(isolation actor: isolated (any Actor)?) async throws(SluiceError) -> Element? {
        do {
            while chunks != nil {
                if let element = try parser.next() { return element }
                if isFinished { break }
                if let chunk = try await chunks?.next(isolation: actor) {
                    parser.append(chunk)
                } else {
                    parser.finish()
                    isFinished = true
                }
            }
        } catch {
            chunks = nil
            throw error
        }
        chunks = nil
        return nil
    }
}
