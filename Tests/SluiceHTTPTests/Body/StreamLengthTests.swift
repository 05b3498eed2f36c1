import Foundation
import SluiceHTTP
import Testing

@Suite struct StreamLengthTests {
    private struct Broken: Error {}

    /// Returns a stream with chunks of the given lengths.
    private func stream(_ lengths: [Int], failing: Bool = false) -> RequestBody.Stream {
        RequestBody.Stream {
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
            ([], nil, []), ([], 0, []), ([3, 0, 4], nil, [3, 0, 4]), ([3, 4], 7, [3, 4]), ([0, 7, 0], 7, [0, 7]),
        ] as [([Int], Int64?, [Int])]
    )
    func readsStreamOfAnnouncedLength(_ lengths: [Int], _ announced: Int64?, _ expected: [Int]) async throws {
        var taken: [Int] = []
        let isComplete = try await stream(lengths).read(length: announced) { chunk in
            taken.append(chunk.count)
            return true
        }
        #expect(isComplete)
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
            try await stream(lengths).read(length: announced) { chunk in
                taken += chunk.count
                return true
            }
        }
        #expect(error?.code == .bodyLengthMismatch)
        #expect(taken == expected)
    }

    @Test func receiverStopsTheStream() async throws {
        var taken = 0
        let isComplete = try await stream([1, 2, 3]).read(length: nil) { chunk in
            taken += chunk.count
            return taken < 3
        }
        #expect(!isComplete)
        #expect(taken == 3)
    }

    @Test func throwingStreamIsBodyUnavailable() async {
        let error = await #expect(throws: SluiceError.self) {
            try await stream([1], failing: true).read(length: nil) { _ in true }
        }
        #expect(error?.code == .bodyUnavailable)
        #expect(error?.underlyingError is Broken)
    }
}
