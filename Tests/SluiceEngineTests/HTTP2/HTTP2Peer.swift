#if os(Linux)
import Foundation
import SluiceHTTP
import SluiceTesting

/// The server's end of an HTTP/2 connection. It records the client's frames and sends others.
final class HTTP2Peer: Sendable {
    private struct State: Sendable {
        var frames: [HTTP2Frame] = []
        var isClosed = false
        /// The number of sent data bytes by stream.
        var sent: [Int32: Int] = [:]
    }

    private static let preface = Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8)

    private let descriptor: Int32
    private let state = Locked(State())
    /// True until a write fails or the reading ends; locked while a frame is written.
    ///
    /// A locked value of zero size would have the same address as its lock, which the thread sanitizer reports as a race.
    private let canWrite = Locked(true)

    init(_ descriptor: Int32) {
        self.descriptor = descriptor
    }

    /// Lets the network drop all that the client sends from now on, so that nothing is acknowledged.
    func dropInput() {
        // A program of one instruction, BPF_RET with a length of 0, as SO_ATTACH_FILTER takes it.
        let instruction: [UInt16] = [6, 0, 0, 0]
        instruction.withUnsafeBytes { code in
            var program = (count: 1, code: code.baseAddress)
            setsockopt(descriptor, SOL_SOCKET, 26, &program, socklen_t(MemoryLayout.size(ofValue: program)))
        }
    }

    // MARK: Reading

    /// Reads frames until the client closes the connection, and passes each to `react`. When it returns, no other thread
    /// uses the descriptor, which can be closed.
    func read(_ react: (HTTP2Frame) -> Void) {
        defer {
            state.withLock { $0.isClosed = true }
            // A write that still waits fails.
            shutdown(descriptor, Int32(SHUT_RDWR))
            canWrite.withLock { $0 = false }
        }
        guard let fields = HTTP2FieldReader(), receive(HTTP2Peer.preface.count) == HTTP2Peer.preface else { return }
        var block: HTTP2Frame?
        while let header = receive(9) {
            let length = Int(header[0]) << 16 | Int(header[1]) << 8 | Int(header[2])
            guard let payload = receive(length) else { return }
            let stream = Int32(bitPattern: HTTP2Frame.number(header, at: 5) & 0x7fff_ffff)
            var frame = HTTP2Frame(type: header[3], flags: header[4], stream: stream, payload: payload)
            if frame.kind == .continuation, var whole = block {
                whole.payload += payload
                whole.flags |= frame.flags
                frame = whole
            }
            if frame.kind == .headers {
                if frame.flags & HTTP2Frame.Flag.endHeaders == 0 {
                    block = frame
                    continue
                }
                block = nil
                guard let decoded = fields.read(frame.payload) else { return }
                frame.fields = decoded
            }
            state.withLock { [frame] in $0.frames.append(frame) }
            react(frame)
        }
    }

    private func receive(_ count: Int) -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: count)
        var position = 0
        while position < count {
            let received = bytes.withUnsafeMutableBytes {
                recv(descriptor, $0.baseAddress.map { $0 + position }, count - position, 0)
            }
            if received <= 0 { return nil }
            position += received
        }
        return bytes
    }

    // MARK: Received frames

    var frames: [HTTP2Frame] { state.withLock { $0.frames } }
    /// True if the client has closed the connection.
    var isClosed: Bool { state.withLock { $0.isClosed } }

    /// Returns the frames of a kind, of all streams or of one.
    func frames(_ kind: HTTP2Frame.Kind, of stream: Int32? = nil) -> [HTTP2Frame] {
        frames.filter { $0.kind == kind && (stream == nil || $0.stream == stream) }
    }

    /// The head of each request so far.
    var requests: [HTTP2Frame] { frames(.headers) }

    /// Waits for a frame.
    func frame(_ kind: HTTP2Frame.Kind, of stream: Int32? = nil, _ index: Int = 0) async throws -> HTTP2Frame {
        try await waitUntil("frame \(index) of the kind \(kind)") { frames(kind, of: stream).count > index }
        return frames(kind, of: stream)[index]
    }

    /// Waits for the head of a request.
    func request(_ index: Int = 0) async throws -> HTTP2Frame { try await frame(.headers, index) }

    /// Returns the received body bytes of a stream.
    func body(of stream: Int32) -> [UInt8] { frames(.data, of: stream).flatMap(\.payload) }

    /// Waits for the whole body of a request.
    func wholeBody(of stream: Int32) async throws -> [UInt8] {
        try await waitUntil("the body of stream \(stream)") { frames.contains { $0.stream == stream && $0.endsStream } }
        return body(of: stream)
    }

    /// Waits for the reset of a stream, and returns its code.
    func reset(of stream: Int32) async throws -> UInt32 { try await frame(.reset, of: stream).number }

    /// Waits until the client has processed all frames sent so far, in at least a number of turns.
    ///
    /// The client answers a PING before its pool knows what the same turn has changed, and a second PING after that.
    func synchronize(turns: UInt8 = 1) async throws {
        for number in 1...turns {
            let marker: [UInt8] = HTTP2Frame.bytes(of: UInt32(frames.count)) + [1, 2, 3, number]
            let before = frames(.ping).count(where: \.isAck)
            send(HTTP2Frame(.ping, marker))
            try await waitUntil("the client has answered") { frames(.ping).count(where: \.isAck) > before || isClosed }
        }
    }

    // MARK: Windows

    /// Returns the number of bytes that the client still accepts on a stream, from its settings and window updates.
    func window(of stream: Int32) -> Int {
        let initial = frames(.settings).last { $0.settings[HTTP2Frame.Setting.initialWindow] != nil }
        let start = initial?.settings[HTTP2Frame.Setting.initialWindow] ?? 65_535
        return Int(start) + growth(of: stream) - state.withLock { $0.sent[stream] ?? 0 }
    }

    /// The number of bytes that the client still accepts on all streams.
    var connectionWindow: Int { 65_535 + growth(of: 0) - state.withLock { $0.sent.values.reduce(0, +) } }

    private func growth(of stream: Int32) -> Int { frames(.windowUpdate, of: stream).reduce(0) { $0 + Int($1.number) } }

    /// Returns the number of sent data bytes of a stream.
    func sent(by stream: Int32) -> Int { state.withLock { $0.sent[stream] ?? 0 } }

    // MARK: Sending

    /// Writes a frame; false if the client has closed the connection.
    @discardableResult
    func send(_ frame: HTTP2Frame) -> Bool { write(frame.bytes) }

    /// Writes any bytes; false if the client has closed the connection.
    @discardableResult
    func write(_ bytes: [UInt8]) -> Bool {
        canWrite.withLock { canWrite in
            var position = 0
            while canWrite, position < bytes.count {
                let count = bytes.withUnsafeBytes { source in
                    Foundation.send(
                        descriptor,
                        source.baseAddress.map { $0 + position },
                        bytes.count - position,
                        Int32(MSG_NOSIGNAL)
                    )
                }
                canWrite = count > 0
                position += max(0, count)
            }
            return canWrite
        }
    }

    func settings(_ values: [UInt16: UInt32]) {
        let payload = values.flatMap { [UInt8($0.key >> 8), UInt8($0.key & 255)] + HTTP2Frame.bytes(of: $0.value) }
        send(HTTP2Frame(.settings, payload))
    }

    /// Sends a head or a trailer section.
    func fields(_ stream: Int32, _ fields: [HTTP2Field], ends: Bool = false) {
        let flags = HTTP2Frame.Flag.endHeaders | (ends ? HTTP2Frame.Flag.endStream : 0)
        send(HTTP2Frame(.headers, flags: flags, stream: stream, HTTP2Frame.block(fields)))
    }

    /// Sends a head.
    func head(_ stream: Int32, _ status: Int = 200, _ more: [HTTP2Field] = [], ends: Bool = false) {
        fields(stream, [HTTP2Field(":status", "\(status)")] + more, ends: ends)
    }

    /// Sends a piece of a body, regardless of the client's windows.
    func data(_ stream: Int32, _ bytes: [UInt8], ends: Bool = false) {
        state.withLock { $0.sent[stream, default: 0] += bytes.count }
        send(HTTP2Frame(.data, flags: ends ? HTTP2Frame.Flag.endStream : 0, stream: stream, bytes))
    }

    /// Sends a piece of a body with the longest padding.
    func paddedData(_ stream: Int32, _ bytes: [UInt8]) {
        let payload = [255] + bytes + [UInt8](repeating: 0, count: 255)
        state.withLock { $0.sent[stream, default: 0] += payload.count }
        send(HTTP2Frame(.data, flags: HTTP2Frame.Flag.padded, stream: stream, payload))
    }

    func data(_ stream: Int32, _ text: String, ends: Bool = false) { data(stream, Array(text.utf8), ends: ends) }

    /// Sends a whole response.
    func answer(_ stream: Int32, _ text: String, _ status: Int = 200, _ more: [HTTP2Field] = []) {
        head(stream, status, more)
        data(stream, text, ends: true)
    }

    /// Sends as much of a body as the client's windows allow, and returns the number of bytes.
    @discardableResult
    func fill(_ stream: Int32, upTo limit: Int) -> Int {
        var sent = 0
        while sent < limit {
            let count = min(limit - sent, window(of: stream), connectionWindow, 16_384)
            if count <= 0 { break }
            data(stream, [UInt8](repeating: 0x61, count: count))
            sent += count
        }
        return sent
    }

    /// Sends a body of a number of bytes, within the client's windows.
    func body(_ stream: Int32, count: Int, ends: Bool = true) async throws {
        var left = count
        while left > 0 {
            try await waitUntil("there is a window for \(left) bytes on stream \(stream)") {
                window(of: stream) > 0 && connectionWindow > 0 || isClosed
            }
            if isClosed { return }
            left -= fill(stream, upTo: left)
        }
        if ends { data(stream, [], ends: true) }
    }

    func reset(_ stream: Int32, _ code: UInt32) {
        send(HTTP2Frame(.reset, stream: stream, HTTP2Frame.bytes(of: code)))
    }

    func goAway(_ last: Int32, _ code: UInt32 = HTTP2Frame.Code.noError, _ words: String = "") {
        let numbers = HTTP2Frame.bytes(of: UInt32(bitPattern: last)) + HTTP2Frame.bytes(of: code)
        send(HTTP2Frame(.goAway, numbers + words.utf8))
    }

    func windowUpdate(_ stream: Int32, _ count: UInt32) {
        send(HTTP2Frame(.windowUpdate, stream: stream, HTTP2Frame.bytes(of: count)))
    }

    /// Closes the connection, unless the client has closed it.
    ///
    /// - Parameter resetting: True to reset the connection.
    func close(resetting: Bool = false) {
        state.withLock { state in
            // Later, the descriptor may be that of another connection.
            if state.isClosed { return }
            if resetting {
                var linger = linger(l_onoff: 1, l_linger: 0)
                setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &linger, socklen_t(MemoryLayout<linger>.size))
            }
            shutdown(descriptor, Int32(SHUT_RDWR))
        }
    }
}
#endif
