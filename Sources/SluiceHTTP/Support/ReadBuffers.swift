import SluiceFoundation

/// Reusable buffers of one size.
///
/// A buffer returns to the pool when the data that uses it is released. Allocating and clearing fresh memory for each
/// piece takes longer than reading the file.
package final class ReadBuffers: Sendable {
    /// The maximum number of idle buffers. A body that is sent as fast as it is read needs fewer.
    private static let maximumIdle = 6

    private let size: Int
    /// The addresses of the idle buffers. Code that removes an address owns its buffer.
    private let idle = Locked<[UInt]>([])

    package init(size: Int) {
        self.size = max(1, size)
    }

    deinit {
        for address in idle.withLock({ $0 }) { UnsafeMutableRawPointer(bitPattern: address)?.deallocate() }
    }

    /// Fills a buffer and returns its contents, or a copy if they are less than an eighth of the buffer.
    ///
    /// - Parameters:
    ///   - count: The maximum number of bytes; limited to the size of a buffer.
    ///   - fill: Called with uninitialized memory. It returns the number of bytes written, or a negative number on
    ///     failure.
    /// - Returns: The bytes, or nil if `fill` failed.
    package func piece(upTo count: Int, _ fill: (UnsafeMutableRawBufferPointer) -> Int) -> Data? {
        let buffer = take()
        let filled = fill(UnsafeMutableRawBufferPointer(start: buffer, count: min(max(1, count), size)))
        guard filled > 0 else {
            release(buffer)
            return filled < 0 ? nil : Data()
        }
        // A few bytes would keep the whole buffer until they are read.
        if filled < size / 8 {
            defer { release(buffer) }
            return Data(bytes: buffer, count: filled)
        }
        return Data(bytesNoCopy: buffer, count: filled, deallocator: .custom { [self] buffer, _ in release(buffer) })
    }

    private func take() -> UnsafeMutableRawPointer {
        idle.withLock { $0.popLast() }.flatMap(UnsafeMutableRawPointer.init(bitPattern:))
            ?? .allocate(byteCount: size, alignment: 64)
    }

    private func release(_ buffer: UnsafeMutableRawPointer) {
        let address = UInt(bitPattern: buffer)
        let isPooled = idle.withLock { idle in
            guard idle.count < ReadBuffers.maximumIdle else { return false }
            idle.append(address)
            return true
        }
        if !isPooled { buffer.deallocate() }
    }
}
