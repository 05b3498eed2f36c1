#if os(Linux)
#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif
import Glibc

/// Bytes that wait to be written to a socket, in order.
///
/// Small pieces are gathered in one buffer, which is kept from one request to the next; large ones are written from where they are.
struct OutputQueue {
    private enum Segment {
        case range(Range<Int>)
        case data(Data)

        var count: Int {
            switch self {
            case .range(let range): range.count
            case .data(let data): data.count
            }
        }
    }

    /// Pieces up to this size are copied into the buffer.
    private static let smallPiece = 8 << 10
    /// The capacity that an empty queue keeps.
    private static let keptCapacity = 2 << 10

    private var buffer: [UInt8] = []
    /// Everything in order; empty while it lies in the buffer alone.
    private var segments: [Segment] = []
    /// The position in `segments` of what is written next.
    private var first = 0
    /// Bytes of the first segment, or of the buffer where there are no segments, that have been written.
    private var written = 0
    private(set) var count = 0

    var isEmpty: Bool { count == 0 }

    /// Lets `append` put bytes behind those that wait.
    mutating func append(_ append: (inout [UInt8]) -> Void) {
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

    /// Puts a piece of a body behind the bytes that wait.
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

    /// Drops everything.
    mutating func removeAll() {
        if buffer.capacity > OutputQueue.keptCapacity { buffer = [] } else { buffer.removeAll(keepingCapacity: true) }
        segments = []
        first = 0
        written = 0
        count = 0
    }

    /// Notes that so many bytes have been written.
    mutating func consume(_ consumed: Int) {
        count -= consumed
        if count == 0 { return removeAll() }
        written += consumed
        while first < segments.count, written >= segments[first].count {
            written -= segments[first].count
            segments[first] = .range(0..<0)
            first += 1
        }
    }

    /// Calls `body` with the contiguous bytes that are written next.
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

    /// Writes what the socket takes with one system call, from up to four pieces.
    ///
    /// - Returns: The number of bytes written, or -1 with `errno` set.
    func send(to descriptor: Int32) -> Int {
        let flags = Int32(MSG_NOSIGNAL) | Int32(MSG_DONTWAIT)
        guard segments.count - first > 1 else {
            return withNextBytes { Glibc.send(descriptor, $0.baseAddress, $0.count, flags) }
        }
        return withUnsafeTemporaryAllocation(of: iovec.self, capacity: 4) { vectors in
            gather(first, written, vectors, 0, descriptor, flags)
        }
    }

    /// Fills one vector after the other, each within the scope of its bytes, and sends them from the innermost.
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
