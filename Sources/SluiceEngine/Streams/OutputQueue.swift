#if os(Linux)
import SluiceFoundation
import SluiceHTTP
import SluiceLibc

/// A queue of bytes to write to a socket.
///
/// Small pieces are copied into one buffer, which is reused for later requests. Large pieces are written without a copy.
package struct OutputQueue {
    private enum Segment {
        case range(Range<Int>)
        case data(Data)

        var count: Int {
            switch self {
            case .range(let range): range.count
            case .data(let data): data.count
            }
        }

        /// The start in the buffer; nil for a piece with bytes of its own.
        var start: Int? {
            if case .range(let range) = self { range.lowerBound } else { nil }
        }
    }

    /// The maximum size of pieces that are copied into the buffer.
    private static let smallPiece = 8 << 10
    /// The maximum capacity of the buffer that an empty queue retains.
    private static let retainedCapacity = 2 << 10
    /// The number of written bytes and of written segments from which their memory is released before the queue is empty.
    private static let releasedBytes = 64 << 10
    private static let releasedSegments = 64

    private var buffer: [UInt8] = []
    /// All pieces in order. Empty if all bytes are in the buffer.
    private var segments: [Segment] = []
    /// The index of the next segment to write.
    private var first = 0
    /// The number of written bytes of the first segment, or of the buffer if there are no segments.
    private var written = 0
    /// The number of unwritten bytes.
    private(set) var count = 0

    package var isEmpty: Bool { count == 0 }

    package init() {}

    /// Calls a closure that appends bytes to the buffer.
    package mutating func append(_ append: (inout [UInt8]) -> Void) {
        let start = buffer.count
        append(&buffer)
        count += buffer.count - start
        if !segments.isEmpty, buffer.count > start {
            if case .range(let range) = segments.last, range.upperBound == start {
                segments[segments.count - 1] = .range(range.lowerBound..<buffer.count)
            } else {
                segments.append(.range(start..<buffer.count))
            }
        }
    }

    /// Appends a piece of a body.
    mutating func append(_ data: Data) {
        guard data.count > OutputQueue.smallPiece else {
            return append { $0.append(contentsOf: data) }
        }
        if segments.isEmpty, !buffer.isEmpty {
            segments.append(.range(written..<buffer.count))
            written = 0
        }
        segments.append(.data(data))
        count += data.count
    }

    /// Removes everything.
    mutating func removeAll() {
        if buffer.capacity > OutputQueue.retainedCapacity {
            buffer = []
        } else {
            buffer.removeAll(keepingCapacity: true)
        }
        segments = []
        first = 0
        written = 0
        count = 0
    }

    /// Removes written bytes.
    package mutating func consume(_ consumed: Int) {
        count -= consumed
        if count == 0 { return removeAll() }
        written += consumed
        while first < segments.count, written >= segments[first].count {
            written -= segments[first].count
            segments[first] = .range(0..<0)
            first += 1
        }
        if hasMuchWritten { removeWritten() }
    }

    /// True if much memory is occupied by bytes and segments that have been written. A queue to a slow receiver is never empty.
    private var hasMuchWritten: Bool {
        if first >= OutputQueue.releasedSegments { return true }
        guard first < segments.count else { return written >= OutputQueue.releasedBytes }
        guard case .range(let range) = segments[first] else { return false }
        return range.lowerBound + written >= OutputQueue.releasedBytes
    }

    private mutating func removeWritten() {
        segments.removeFirst(first)
        first = 0
        if case .range(let range) = segments.first {
            segments[0] = .range(range.lowerBound + written..<range.upperBound)
            written = 0
        } else if segments.isEmpty {
            buffer.removeFirst(written)
            written = 0
            return
        }
        // Ranges are in order, so the bytes before the first one have been written.
        let start = segments.lazy.compactMap(\.start).first ?? buffer.count
        buffer.removeFirst(start)
        for index in segments.indices {
            guard case .range(let range) = segments[index] else { continue }
            segments[index] = .range(range.lowerBound - start..<range.upperBound - start)
        }
    }

    /// Calls `body` with the next contiguous bytes to write.
    func withNextBytes<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        guard first < segments.count else {
            return buffer.withUnsafeBytes { body(UnsafeRawBufferPointer(rebasing: $0[written...])) }
        }
        switch segments[first] {
        case .range(let range):
            return buffer.withUnsafeBytes {
                body(UnsafeRawBufferPointer(rebasing: $0[range.lowerBound + written..<range.upperBound]))
            }
        case .data(let data):
            return data.withUnsafeBytes { body(UnsafeRawBufferPointer(rebasing: $0[written...])) }
        }
    }

    /// Writes up to four pieces with one system call.
    ///
    /// - Returns: The number of bytes written, or -1 with `errno` set.
    func send(to descriptor: Int32) -> Int {
        let flags = Int32(MSG_NOSIGNAL) | Int32(MSG_DONTWAIT)
        guard segments.count - first > 1 else {
            return withNextBytes { SluiceLibc.send(descriptor, $0.baseAddress, $0.count, flags) }
        }
        return withUnsafeTemporaryAllocation(of: iovec.self, capacity: 4) { vectors in
            gather(first, written, vectors, 0, descriptor, flags)
        }
    }

    /// Fills the vectors recursively, each within the scope of its bytes, and sends them in the innermost call.
    private func gather(
        _ segment: Int,
        _ skipped: Int,
        _ vectors: UnsafeMutableBufferPointer<iovec>,
        _ used: Int,
        _ descriptor: Int32,
        _ flags: Int32
    ) -> Int {
        guard segment < segments.count, used < vectors.count else {
            var message = msghdr()
            message.msg_iov = vectors.baseAddress
            message.msg_iovlen = used
            return sendmsg(descriptor, &message, flags)
        }
        let add = { (bytes: UnsafeRawBufferPointer) in
            vectors[used] = iovec(
                iov_base: UnsafeMutableRawPointer(mutating: bytes.baseAddress),
                iov_len: bytes.count
            )
            return gather(segment + 1, 0, vectors, used + 1, descriptor, flags)
        }
        switch segments[segment] {
        case .range(let range):
            return buffer.withUnsafeBytes {
                add(UnsafeRawBufferPointer(rebasing: $0[range.lowerBound + skipped..<range.upperBound]))
            }
        case .data(let data):
            return data.withUnsafeBytes { add(UnsafeRawBufferPointer(rebasing: $0[skipped...])) }
        }
    }
}
#endif
