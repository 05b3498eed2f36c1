import SluiceFoundation
import SluiceHTTP

/// Performs the actions of a response on the thread of the connection.
struct ResponsePlayer {
    private let socket: StreamSocket
    private let log: TrafficLog
    private let request: LoopbackRequest
    /// The bytes that are not sent yet. They are collected so that head and body leave in one packet.
    private var pending = Data()

    init(socket: StreamSocket, log: TrafficLog, request: LoopbackRequest) {
        self.socket = socket
        self.log = log
        self.request = request
    }

    /// Performs all actions. Returns true if the connection can take another request.
    mutating func play(_ response: LoopbackResponse) -> Bool {
        perform(response.actions) && flush()
    }

    private mutating func perform(_ actions: [LoopbackResponse.Action]) -> Bool {
        for action in actions {
            guard perform(action) else { return false }
        }
        return true
    }

    private mutating func perform(_ action: LoopbackResponse.Action) -> Bool {
        switch action {
        case .head(let head): return write(head.bytes)
        case .body(let data): return request.method == .head || write(data)
        case .bytes(let data): return write(data)
        case .answer(let respond): return perform(respond(request).actions)
        case .pause(let duration):
            return flush() && (duration <= .zero || socket.wait(until: .now + duration) == .timeIsUp)
        case .wait(let signal): return flush() && signal.block(socket)
        case .endless(let chunk):
            guard request.method != .head else { return true }
            guard flush() else { return false }
            while send(chunk) {}
            return false
        case .hang:
            if flush() { _ = socket.wait(until: nil) }
            return false
        case .close:
            _ = flush()
            return false
        case .reset:
            _ = flush()
            socket.resetOnClose()
            return false
        }
    }

    private mutating func write(_ data: Data) -> Bool {
        guard pending.count + data.count > 64 << 10 else {
            if pending.isEmpty { pending = data } else { pending.append(data) }
            return true
        }
        return flush() && send(data)
    }

    private mutating func flush() -> Bool {
        guard !pending.isEmpty else { return true }
        defer { pending = Data() }
        return send(pending)
    }

    private func send(_ data: Data) -> Bool {
        data.withUnsafeBytes { bytes in
            var rest = bytes[...]
            while !rest.isEmpty {
                guard let count = socket.sendNow(UnsafeRawBufferPointer(rebasing: rest)) else { return false }
                if count > 0 { log.sent(count) } else { waitForRoom() }
                rest = rest.dropFirst(count)
            }
            return true
        }
    }

    /// Waits until the socket is writable. The connection counts as stalled after 100 ms.
    private func waitForRoom() {
        guard !socket.waitUntilWritable(milliseconds: 100) else { return }
        log.stalled(true)
        _ = socket.waitUntilWritable(milliseconds: -1)
        log.stalled(false)
    }
}
