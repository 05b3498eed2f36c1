import Sluice
import SluiceTesting
import XCTest

/// A server with random faults, and senders that are cancelled at random. No incorrect file ever exists, and the correct one exists
/// at the end.
final class RandomDownloadTests: XCTestCase {
    func testRandomFaultsAndCancellationsLeaveACorrectFile() async throws {
        for seed in 0..<40 as Range<UInt64> { try await run(seed) }
    }

    private func run(_ seed: UInt64) async throws {
        let fixture = try DownloadFixture(bytes: 200_000)
        let current = LoopbackResource(fixture.contents, eTag: "\"new\"")
        let outdated = LoopbackResource(Data(fixture.contents.reversed()) + Data([1]), eTag: "\"old\"")
        let random = Shared(SeededGenerator(seed: seed))
        let remainingFaults = Shared(12)
        fixture.server.on("/file") { request in
            // After a dozen faults, the server works correctly.
            guard
                remainingFaults.change({
                    $0 -= 1; return $0
                }) > 0
            else { return current.response(to: request) }
            return random.change { random in
                let isOutdated = Int.random(in: 0..<4, using: &random) == 0
                let cut = Int.random(in: 0...150_000, using: &random)
                let resource = isOutdated ? outdated : current
                switch Int.random(in: 0..<8, using: &random) {
                case 0: return .status(.serviceUnavailable)
                case 1: return resource.withFaults(.shortPart(by: cut)).response(to: request)
                case 2: return resource.withFaults(.ignoringIfRange).response(to: request)
                case 3: return resource.withFaults(.shiftedRange(by: 1)).response(to: request)
                case 4: return resource.response(to: request).interrupted(after: cut, by: .reset)
                default: return resource.response(to: request).interrupted(after: cut)
                }
            }
        }
        let versions = [current.data, outdated.data]
        var wasCancelled = false
        for _ in 0..<60 {
            let isShared = random.change { Bool.random(using: &$0) }
            let bytes = random.change { Int64.random(in: 0...200_000, using: &$0) }
            let sender = fixture.client.download("file", to: .file(fixture.file)).segments(
                isShared ? 3 : 1,
                ofAtLeast: 20_000
            )
            .maximumResumptions(1).sender()
            let response = Task { await sender.response }
            for await progress in sender.downloadProgress where progress.completed > bytes { break }
            if bytes % 3 == 0 { sender.cancel() }
            let outcome = await response.value
            guard let file = outcome.file else {
                // A cancellation may arrive too late to stop the download. Then the file exists before the next attempt.
                wasCancelled = wasCancelled || outcome.failure?.code == .cancelled
                guard let saved = fixture.saved else { continue }
                XCTAssertTrue(wasCancelled, "seed \(seed)")
                XCTAssertTrue(versions.contains(saved), "seed \(seed)")
                return
            }
            XCTAssertTrue(versions.contains(fixture.saved ?? Data()), "seed \(seed): no mixture of two versions")
            XCTAssertEqual(file.length, Int64(fixture.saved?.count ?? 0))
            XCTAssertEqual(fixture.names, ["file.bin"], "seed \(seed)")
            return
        }
        XCTFail("seed \(seed): no attempt finished")
    }
}
