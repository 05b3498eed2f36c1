import SluiceHTTP

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Gives the elements that a parser makes of chunks, one by one; waits only where the next one has not arrived.
struct ElementReader<Chunks: AsyncIteratorProtocol, Element: Sendable>
where Chunks.Element == Data, Chunks.Failure == SluiceError {
    /// Nil once the stream is over, so that whatever sends it can stop.
    private var chunks: Chunks?
    private(set) var parser: any StreamParser<Element>
    private var isFinished = false

    init(_ chunks: Chunks, _ parser: any StreamParser<Element>) {
        self.chunks = chunks
        self.parser = parser
    }

    /// The next element, nil at the end and after an error.
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
