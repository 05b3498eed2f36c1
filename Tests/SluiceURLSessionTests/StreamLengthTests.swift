import Foundation
import SluiceHTTP
import Testing

@testable import SluiceURLSession

@Suite struct StreamLengthTests {
    private struct Broken: Error {}

    /// Returns a stream with chunks of the given lengths.
    private func stream(_ lengths: [Int], failing: Bool = false) -> HTTPBody.Stream {
        HTTPBody.Stream {
            var rest = lengths[...]
            return {
                if let length = rest.popFirst() { return Data(count: length) }
                if failing { throw Broken() }
                return nil
            }
        }
    }

    @Test(
        arguments: [
            ([], nil, []), ([], 0, []), ([3, 0, 4], nil, [3, 4]), ([3, 4], 7, [3, 4]), ([0, 7, 0], 7, [7]),
        ] as [([Int], Int64?, [Int])]
    )
    func readsStreamOfAnnouncedLength(_ lengths: [Int], _ announced: Int64?, _ expected: [Int]) async throws {
        var taken: [Int] = []
        try await stream(lengths).read(length: announced) { chunk throws(SluiceError) in taken.append(chunk.count) }
        #expect(taken == expected)
    }

    @Test(arguments: [([3], 4, 3), ([], 1, 0), ([5], 4, 0), ([4, 1], 4, 0), ([2, 3], 4, 2)] as [([Int], Int64, Int)])
    func rejectsStreamOfOtherLength(
        _ lengths: [Int],
        _ announced: Int64,
        _ expected: Int
    ) async {
        var taken = 0
        let error = await #expect(throws: SluiceError.self) {
            try await stream(lengths).read(length: announced) { chunk throws(SluiceError) in taken += chunk.count }
        }
        #expect(error?.code == .bodyLengthMismatch)
        #expect(taken == expected)
    }

    @Test func throwingStreamIsBodyUnavailable() async {
        let error = await #expect(throws: SluiceError.self) {
            try await stream([1], failing: true).read(length: nil) { _ throws(SluiceError) in }
        }
        #expect(error?.code == .bodyUnavailable)
        #expect(error?.underlyingError is Broken)
    }
}
