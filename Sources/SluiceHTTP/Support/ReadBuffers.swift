#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Buffers of one size that are used again once the pieces in them have gone: fresh memory for each piece would have to be cleared, and
/// the system would have to find it, which takes longer than reading.
package final class ReadBuffers: Sendable {
    /// More than a body that is sent as fast as it is read holds at a time.
    private static let maximumIdle = 6

    private let size: Int
    /// Addresses; whoever takes one out owns what is there.
    private let idle = Locked<[UInt]>([])

    package init(size: Int) {
        self.size = max(1, size)
    }

    deinit {
        for address in idle.withLock({ $0 }) { UnsafeMutableRawPointer(bitPattern: address)?.deallocate() }
    }

    /// Fills a buffer and gives what is in it.
    ///
    /// - Parameters:
    ///   - count: How many bytes at most; no more than the buffers' size is taken.
    ///   - fill: Fills memory that holds anything, and gives the number of bytes; negative for a failure.
    /// - Returns: What it was filled with, nil for a failure.
    package func piece(upTo count: Int, _ fill: (UnsafeMutableRawBufferPointer) -> Int) -> Data? {
        let buffer = take()
        let filled = fill(UnsafeMutableRawBufferPointer(start: buffer, count: min(max(1, count), size)))
        guard filled > 0 else {
            giveBack(buffer)
            return filled < 0 ? nil : Data()
        }
        return Data(bytesNoCopy: buffer, count: filled, deallocator: .custom { [self] buffer, _ in giveBack(buffer) })
    }

    private func take() -> UnsafeMutableRawPointer {
        idle.withLock { $0.popLast() }.flatMap(UnsafeMutableRawPointer.init(bitPattern:))
            ?? .allocate(byteCount: size, alignment: 64)
    }

    private func giveBack(_ buffer: UnsafeMutableRawPointer) {
        let address = UInt(bitPattern: buffer)
        let isKept = idle.withLock { idle in
            guard idle.count < ReadBuffers.maximumIdle else { return false }
            idle.append(address)
            return true
        }
        if !isKept { buffer.deallocate() }
    }
}
