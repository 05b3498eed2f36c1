import SluiceFoundation
import SluiceHTTP

/// The bytes received on a connection that have not been parsed.
struct InputBuffer {
    private let socket: StreamSocket
    /// Returns the way to end the connection after the given number of request bytes, or nil to continue.
    private let interruption: (Int) -> LoopbackResponse.Interruption?
    private let received: (Int) -> Void
    private var bytes = [UInt8](repeating: 0, count: 16 << 10)
    private var start = 0
    private var end = 0
    /// The number of bytes received of the current request.
    private var count = 0

    init(
        socket: StreamSocket,
        interruption: @escaping (Int) -> LoopbackResponse.Interruption?,
        received: @escaping (Int) -> Void
    ) {
        self.socket = socket
        self.interruption = interruption
        self.received = received
    }

    /// Begins the next request. The buffer may already contain a part of it.
    mutating func beginRequest() {
        count = end - start
    }

    /// Reads through the first empty line. Empty lines before the request line are skipped (RFC 9112 §2.2).
    mutating func takeHead(limit: Int) throws(RequestReader.Stop) -> ArraySlice<UInt8> {
        var searched = 0
        while true {
            while start < end, searched == 0, bytes[start] == 13 || bytes[start] == 10 { start += 1 }
            if let length = lengthOfHead(from: start + max(0, searched - 3)) {
                defer { start += length }
                return bytes[start..<start + length]
            }
            searched = end - start
            guard searched < limit else { throw .malformed("The head of the request is too large.") }
            try receive()
        }
    }

    /// Reads a line and returns it without its line ending.
    mutating func takeLine() throws(RequestReader.Stop) -> String {
        while true {
            if let newline = bytes[start..<end].firstIndex(of: 10) {
                let lineEnd = newline > start && bytes[newline - 1] == 13 ? newline - 1 : newline
                defer { start = newline + 1 }
                return String(decoding: bytes[start..<lineEnd], as: UTF8.self)
            }
            guard end - start < 64 << 10 else { throw .malformed("A line of the body is too long.") }
            try receive()
        }
    }

    /// Reads `count` bytes. Memory grows with the received bytes, not with the announced length.
    mutating func take(_ count: Int, into data: inout Data) throws(RequestReader.Stop) {
        var left = count
        while left > 0 {
            if start == end { try receive() }
            let taken = min(left, end - start)
            data.append(contentsOf: bytes[start..<start + taken])
            start += taken
            left -= taken
        }
    }

    /// Sends a 100 (Continue) response. Returns false if the connection is closed.
    func sendContinue() -> Bool {
        var text = "HTTP/1.1 100 Continue\r\n\r\n"
        return text.withUTF8 { socket.sendNow(UnsafeRawBufferPointer($0)) != nil }
    }

    /// Blocks until a signal fires. Returns false if the client disconnects first.
    func wait(for signal: LoopbackSignal) -> Bool {
        signal.block(socket)
    }

    private func lengthOfHead(from position: Int) -> Int? {
        var index = position
        while index + 3 < end {
            if bytes[index] == 13, bytes[index + 1] == 10, bytes[index + 2] == 13, bytes[index + 3] == 10 {
                return index + 4 - start
            }
            index += 1
        }
        return nil
    }

    private mutating func receive() throws(RequestReader.Stop) {
        if start == end {
            start = 0
            end = 0
        } else if end == bytes.count {
            bytes.removeSubrange(..<start)
            end -= start
            start = 0
            if end > bytes.count / 2 { bytes.append(contentsOf: repeatElement(0, count: bytes.count)) }
            if end == bytes.count { bytes.append(contentsOf: repeatElement(0, count: 16 << 10)) }
        }
        // An idle connection is never interrupted, because no request has begun.
        if count > 0 { try interrupt(after: count) }
        let received = bytes.withUnsafeMutableBytes { [end, socket] in
            socket.receive(into: UnsafeMutableRawBufferPointer(rebasing: $0[end...]))
        }
        guard received > 0 else { throw .end }
        // Discard a read that goes beyond the interruption.
        try interrupt(after: count + received - 1)
        self.received(received)
        end += received
        count += received
    }

    private mutating func interrupt(after count: Int) throws(RequestReader.Stop) {
        switch interruption(count) {
        case nil:
            return
        case .close?:
            // Closing a socket with unread bytes would send a reset.
            socket.finishSending()
            bytes.withUnsafeMutableBytes { while socket.receive(into: $0) > 0 {} }
        case .reset?:
            socket.resetOnClose()
        case .hang?:
            _ = socket.wait(until: nil)
        }
        throw .end
    }
}
