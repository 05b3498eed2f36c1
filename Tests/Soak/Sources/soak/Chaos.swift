import CStarvation
import Foundation
import Sluice
import SluiceTesting
import Synchronization

/// Takes away descriptors, fills the small file system and moves the clock, at random times.
final class Chaos: Sendable {
    private struct State {
        /// The number of times that descriptors were taken away.
        var starvations = 0
        var isStarved = false
        var offset: TimeInterval = 0
        var counts: [String: Int] = [:]
    }

    /// A folder on a file system of one megabyte; nil if there is none.
    let smallFolder: URL?
    private let state = Mutex(State())

    init(smallFolder: URL?) {
        self.smallFolder = smallFolder
    }

    /// A clock whose date jumps. Its instants do not.
    var clock: some SluiceClock { JumpingClock(chaos: self) }

    private struct JumpingClock: SluiceClock {
        let chaos: Chaos
        private let system = SystemClock()

        init(chaos: Chaos) {
            self.chaos = chaos
        }

        var now: ContinuousClock.Instant { system.now }
        var date: Date { system.date.addingTimeInterval(chaos.state.withLock(\.offset)) }
        func sleep(for duration: Duration) async throws { try await system.sleep(for: duration) }
    }

    var isStarved: Bool { state.withLock(\.isStarved) }

    /// A number that is equal before and after a time in which there were descriptors; nil while there are none.
    var starvation: Int? { state.withLock { $0.isStarved ? nil : $0.starvations } }

    /// Every kind of disturbance with its count.
    var summary: String {
        state.withLock(\.counts).sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }.joined(separator: ", ")
    }

    func run(until end: ContinuousClock.Instant, seed: UInt64) async {
        var random = SeededGenerator(seed: seed ^ 0x5EED)
        while ContinuousClock.now < end {
            switch Int.random(in: 0..<3, using: &random) {
            case 0: await starve(for: .milliseconds(Int.random(in: 50..<800, using: &random)))
            case 1: await fill(for: .milliseconds(Int.random(in: 50..<2000, using: &random)))
            default: jump(&random)
            }
            try? await Task.sleep(for: .milliseconds(Int.random(in: 200..<3000, using: &random)))
        }
        state.withLock { $0.offset = 0 }
    }

    /// Lowers the limit on descriptors to those that are open.
    private func starve(for duration: Duration) async {
        let open = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count) ?? 64
        state.withLock { state in
            state.isStarved = true
            state.starvations += 1
            state.counts["without descriptors", default: 0] += 1
        }
        if starvation_begin(UInt(max(8, open - 4))) == 0 {
            try? await Task.sleep(for: duration)
            starvation_end()
        }
        state.withLock { $0.isStarved = false }
    }

    /// Fills the small file system for some time.
    private func fill(for duration: Duration) async {
        guard let smallFolder else { return }
        let file = smallFolder.appending(path: "filler-\(UUID().uuidString)")
        guard let handle = fopen(file.path, "w") else { return }
        let block = [UInt8](repeating: 0, count: 4096)
        setbuf(handle, nil)
        while fwrite(block, 1, block.count, handle) == block.count {}
        fclose(handle)
        state.withLock { $0.counts["full disk", default: 0] += 1 }
        try? await Task.sleep(for: duration)
        try? FileManager.default.removeItem(at: file)
    }

    private func jump(_ random: inout SeededGenerator) {
        let year = 365.0 * 86_400
        let offsets: [TimeInterval] = [0, 3600, -3600, 10 * year, -10 * year]
        let offset = offsets.randomElement(using: &random) ?? 0
        state.withLock { state in
            state.offset = offset
            state.counts["clock set", default: 0] += 1
        }
    }
}
