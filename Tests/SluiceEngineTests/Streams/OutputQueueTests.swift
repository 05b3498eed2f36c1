#if os(Linux)
#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif
import Testing

@testable import SluiceEngine

@Suite struct OutputQueueTests {
    /// Small pieces go through the buffer, large ones do not.
    private static let pieces = [
        [40], [1000], [9000], [40, 9000], [16_000, 9], [8192, 8193], [70_000, 3, 3], [8193],
    ]

    /// Bytes that count up.
    private static let counting = (0..<80_000).map { UInt8(truncatingIfNeeded: $0) }

    private static func bytes(_ count: Int, from first: UInt8) -> ArraySlice<UInt8> {
        counting[Int(first)..<Int(first) + count]
    }

    /// Appends pieces whose bytes count up.
    private static func fill(_ queue: inout OutputQueue, upTo limit: Int, _ sizes: [Int], _ next: inout UInt8) {
        var index = 0
        while queue.count < limit {
            let size = sizes[index % sizes.count]
            let bytes = bytes(size, from: next)
            next &+= UInt8(truncatingIfNeeded: size)
            if size == 40 { queue.append { $0.append(contentsOf: bytes) } } else { queue.append(Data(bytes)) }
            index += 1
        }
    }

    /// The bytes that a queue holds in its buffer, written or not.
    private static func bufferedBytes(_ queue: OutputQueue) -> Int {
        (Mirror(reflecting: queue).descendant("buffer") as? [UInt8])?.count ?? .max
    }

    /// The number of pieces that a queue holds, written or not.
    private static func segments(_ queue: OutputQueue) -> Int {
        Mirror(reflecting: queue).descendant("segments").map { Mirror(reflecting: $0).children.count } ?? .max
    }

    /// The receiver takes so little at a time that the queue is never empty.
    @Test(arguments: pieces, [777, 4096, 60_000])
    func bytesForASlowReceiverKeepTheirOrderAndDoNotAccumulate(_ sizes: [Int], _ taken: Int) {
        var queue = OutputQueue()
        var (next, expected) = (UInt8(0), UInt8(0))
        var isInOrder = true
        for _ in 0..<(384 << 10) / taken {
            Self.fill(&queue, upTo: 64 << 10, sizes, &next)
            var left = taken
            while left > 0 {
                let count = queue.withNextBytes { bytes in
                    let bytes = bytes.prefix(left)
                    if !bytes.elementsEqual(Self.bytes(bytes.count, from: expected)) { isInOrder = false }
                    return bytes.count
                }
                expected &+= UInt8(truncatingIfNeeded: count)
                queue.consume(count)
                left -= count
            }
            #expect(Self.bufferedBytes(queue) <= 256 << 10)
            #expect(Self.segments(queue) <= 144)
        }
        #expect(isInOrder)
        queue.consume(queue.count)
        #expect(queue.isEmpty && Self.bufferedBytes(queue) == 0)
    }
}
#endif
