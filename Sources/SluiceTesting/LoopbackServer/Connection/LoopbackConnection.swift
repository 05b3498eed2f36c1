import SluiceFoundation
import SluiceHTTP
import SluiceLibc

/// A server connection. It reads a request, plays the response, and repeats until either side closes the connection.
struct LoopbackConnection {
    private let socket: StreamSocket
    private let number: Int
    private let routes: RouteTable
    private let log: TrafficLog

    /// Serves a socket on its own thread, and closes the socket at the end.
    static func start(on socket: StreamSocket, routes: RouteTable, log: TrafficLog) {
        guard let number = log.open(socket) else { return socket.close() }
        let connection = LoopbackConnection(socket: socket, number: number, routes: routes, log: log)
        do throws(LoopbackFailure) {
            try startThread {
                connection.serve()
                log.close(number)
            }
        } catch {
            // Drop the connection, as an overloaded server would.
            log.close(number)
        }
    }

    private func serve() {
        var reader = RequestReader(socket: socket, log: log, routes: routes)
        while true {
            switch reader.next(connection: number) {
            case .request(let request, let wantsClose):
                guard answer(request, routes.responder(to: request)), !wantsClose else { return }
            case .refused(let request, let response, let wantsClose):
                guard answer(request, { response }), !wantsClose else { return }
            case .malformed(let reason):
                refuse(reason)
                return
            case .end:
                return
            }
        }
    }

    /// Plays the response to a request. Returns true if the connection can take another request.
    private func answer(_ request: LoopbackRequest, _ respond: () -> LoopbackResponse) -> Bool {
        log.record(request)
        var player = ResponsePlayer(socket: socket, log: log, request: request)
        return player.play(respond())
    }

    private func refuse(_ reason: String) {
        let response = LoopbackResponse.json(encoding: ["error": reason], status: .badRequest).closingConnection()
        let request = LoopbackRequest(method: "", target: "", headers: [:], body: Data(), connection: number)
        var player = ResponsePlayer(socket: socket, log: log, request: request)
        _ = player.play(response)
        // Closing a socket with unread bytes sends a reset, which may overtake the response. Read the rest first.
        socket.finishSending()
        let deadline = ContinuousClock.now + .seconds(2)
        withUnsafeTemporaryAllocation(byteCount: 4096, alignment: 1) { buffer in
            while socket.waitUntilReadable(until: deadline), socket.receive(into: buffer) > 0 {}
        }
    }
}

// MARK: - The thread

/// Runs a closure on a detached thread with a stack of 512 KiB. Only the stack pages in use consume memory.
func startThread(_ body: @escaping @Sendable () -> Void) throws(LoopbackFailure) {
    var attributes = pthread_attr_t()
    pthread_attr_init(&attributes)
    defer { pthread_attr_destroy(&attributes) }
    pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED))
    pthread_attr_setstacksize(&attributes, 512 << 10)
    #if canImport(Glibc)
    var thread = pthread_t()
    #else
    var thread: pthread_t?
    #endif
    let box = Unmanaged.passRetained(ThreadBody(body))
    let result = pthread_create(&thread, &attributes, runThreadBody, box.toOpaque())
    guard result != 0 else { return }
    box.release()
    throw LoopbackFailure("pthread_create", errno: result)
}

private final class ThreadBody: Sendable {
    let run: @Sendable () -> Void

    init(_ run: @escaping @Sendable () -> Void) {
        self.run = run
    }
}

#if canImport(Darwin)
private func runThreadBody(_ box: UnsafeMutableRawPointer) -> UnsafeMutableRawPointer? {
    Unmanaged<ThreadBody>.fromOpaque(box).takeRetainedValue().run()
    return nil
}
#else
private func runThreadBody(_ box: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    if let box { Unmanaged<ThreadBody>.fromOpaque(box).takeRetainedValue().run() }
    return nil
}
#endif

// MARK: - Response player

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
            return flush() && (duration <= .zero || socket.wait(until: .now + duration.bounded) == .timeIsUp)
        case .wait(let signal): return flush() && signal.block(socket)
        case .repeated(let actions, let times):
            guard request.method != .head else { return true }
            var left = times ?? .max
            while left > 0, perform(actions) { left -= 1 }
            return left == 0
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
