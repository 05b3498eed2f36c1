#if os(Linux)
import CCurl
import Glibc
import SluiceEngine
import SluiceHTTP

/// The engine: one epoll and one multi handle, driven round by round on one thread.
///
/// Everything in it belongs to that thread, which made it; the mailbox is the only way in.
final class EngineLoop {
    private let mailbox: EngineMailbox
    private let epoll: Int32
    private let multi: UnsafeMutableRawPointer
    private var sockets: SocketInterests
    private(set) var now = MonotonicTime.now

    private let events = UnsafeMutableBufferPointer<epoll_event>.allocate(capacity: 256)
    private var commands: [Command] = []
    /// Whether whoever posts the next command will wake the engine.
    private var isMailboxEmpty = false
    private var tracks: [Int: EngineTrack] = [:]
    private var active: [ObjectIdentifier: Exchange] = [:]
    /// Those with something to hand over at the end of the round.
    private var dirty: [Exchange] = []
    /// When libcurl wants to be called though no socket stirs.
    private var curlDeadline = MonotonicTime.distantFuture
    /// No transfer's deadline is before this moment.
    private var nextDeadline = MonotonicTime.distantFuture
    /// What is known of the connections.
    var versions = ConnectionVersions()

    init?(mailbox: EngineMailbox) {
        guard let multi = curl_multi_init() else { return nil }
        epoll = epoll_create1(Int32(EPOLL_CLOEXEC))
        guard epoll >= 0 else { return nil }
        self.mailbox = mailbox
        self.multi = multi
        sockets = SocketInterests(epoll: epoll)
        var event = epoll_event(
            events: EPOLLIN.rawValue | EPOLLET.rawValue,
            data: epoll_data(fd: mailbox.wakeUp)
        )
        epoll_ctl(epoll, EPOLL_CTL_ADD, mailbox.wakeUp, &event)
        observeMulti()
    }

    /// Runs until the process ends.
    func run() -> Never {
        while true {
            // Returning would free what libcurl still holds, while the process is being taken down.
            guard obey() else { while true { pause() } }
            // What has just been admitted is due now, and need not wait for another look at the sockets.
            if curlDeadline <= now { actOnTimer() }
            finishEnded()
            if nextDeadline <= now { expire() }
            handOver()
            attend(timeout)
        }
    }

    /// Waits until a socket stirs or somebody posts a command, and lets libcurl act.
    private func attend(_ timeout: Int32) {
        let count = epoll_wait(epoll, events.baseAddress, Int32(events.count), timeout)
        now = .now
        for event in events.prefix(Int(max(0, count))) where event.data.fd != mailbox.wakeUp {
            act(on: event.data.fd, event.events)
        }
    }

    /// Notes that an exchange has something to hand over at the end of the round.
    func markDirty(_ exchange: Exchange) {
        dirty.append(exchange)
    }

    private var timeout: Int32 {
        isMailboxEmpty ? min(curlDeadline, nextDeadline).milliseconds(after: now) : 0
    }
}

// MARK: - Commands

extension EngineLoop {
    /// Carries out what other threads asked for; false once the engine has to stop.
    private func obey() -> Bool {
        isMailboxEmpty = false
        // A flood of commands must not keep the sockets waiting.
        for _ in 0..<4 {
            commands = mailbox.take(inExchangeFor: commands)
            isMailboxEmpty = commands.isEmpty
            if isMailboxEmpty { return true }
            // A transfer that begins must not be given a connection of which the kernel knows already that it is not fit.
            attend(0)
            for command in commands where !obey(command) { return false }
            commands.removeAll(keepingCapacity: true)
        }
        return true
    }

    private func obey(_ command: Command) -> Bool {
        switch command {
        case .start(let transfer): admit(transfer)
        case .cancel(let transfer): cancel(transfer, error: .cancelled)
        case .resumeReceiving(let transfer):
            guard let exchange = active[ObjectIdentifier(transfer)] else { break }
            guard exchange.resumeReceiving() else {
                retire(exchange)
                break
            }
            // While it was held back there was nothing to be late with.
            nextDeadline = min(nextDeadline, exchange.deadline)
        case .resumeSending(let transfer):
            if let exchange = active[ObjectIdentifier(transfer)], !exchange.resumeSending() { retire(exchange) }
        case .forget(let lane): tracks[lane] = nil
        case .perform(let work): work()
        case .report(let continuation): continuation.resume(returning: statistics)
        case .halt(let latch):
            latch.signal()
            return false
        }
        return true
    }

    private var statistics: CurlStatistics {
        var statistics = CurlStatistics()
        statistics.activeTransfers = active.count
        statistics.queuedTransfers = tracks.values.reduce(0) { $0 + $1.queue.waiting.count }
        statistics.handles = active.count + tracks.values.reduce(0) { $0 + $1.idle.count }
        statistics.connections = sockets.connections
        return statistics
    }

    private func admit(_ transfer: Transfer) {
        let admission = tracks[transfer.lane.id, default: EngineTrack(transfer.lane.configuration)].queue
            .admit(
                transfer,
                id: ObjectIdentifier(transfer),
                host: transfer.origin,
                priority: transfer.context.priority
            )
        switch admission {
        case .admitted: begin(transfer)
        case .refused: transfer.answer(.failure(.queueFull.with(request: transfer.request)))
        case .waiting:
            if let total = transfer.context.timeouts.total {
                nextDeadline = min(nextDeadline, transfer.started + total)
            }
        }
    }

    private func begin(_ transfer: Transfer) {
        let lane = transfer.lane
        guard let exchange = idleExchange(for: transfer) ?? Exchange(engine: self, configuration: lane.configuration)
        else {
            transfer.answer(.failure(Engine.unavailable.with(request: transfer.request)))
            return release(transfer)
        }
        active[ObjectIdentifier(transfer)] = exchange
        var failure = exchange.begin(transfer, now: now)
        if failure == nil, curl_multi_add_handle(multi, exchange.handle.raw) != CURLM_OK {
            failure = Engine.unavailable
        }
        if let failure {
            exchange.finish(throwing: failure)
            return retire(exchange)
        }
        let timeouts = transfer.context.timeouts
        if let idle = timeouts.idle { nextDeadline = min(nextDeadline, now + idle) }
        if let total = timeouts.total { nextDeadline = min(nextDeadline, transfer.started + total) }
    }

    private func idleExchange(for transfer: Transfer) -> Exchange? {
        while let exchange = tracks[transfer.lane.id]?.idle.popLast() {
            if exchange.isFit(for: transfer) { return exchange }
        }
        return nil
    }

    private func cancel(_ transfer: Transfer, error: SluiceError) {
        if let exchange = active[ObjectIdentifier(transfer)] {
            exchange.finish(throwing: error)
            retire(exchange)
        } else if tracks[transfer.lane.id]?.queue.remove(ObjectIdentifier(transfer)) != nil {
            transfer.answer(.failure(error.with(request: transfer.request)))
        }
    }

    /// Takes an exchange out of libcurl's hands and lets the next transfer in line begin.
    private func retire(_ exchange: Exchange) {
        guard let transfer = exchange.transfer else { return }
        curl_multi_remove_handle(multi, exchange.handle.raw)
        active[ObjectIdentifier(transfer)] = nil
        exchange.end()
        if exchange.isReusable { tracks[transfer.lane.id]?.keep(exchange) }
        release(transfer)
    }

    private func release(_ transfer: Transfer) {
        if let next = tracks[transfer.lane.id]?.queue.release(host: transfer.origin) { begin(next) }
    }
}

// MARK: - Events

extension EngineLoop {
    private func act(on socket: Int32, _ events: UInt32) {
        // An exchange that libcurl has ended goes by no connection any more.
        if sockets.isAtRest(socket) { finishEnded() }
        // One port on this side may be that of several connections that lead to different places.
        let isWanted = sockets.isWanted(socket) { local, remote in
            active.values.contains { $0.localPort == local && (remote == 0 || $0.remotePort == remote) }
        }
        guard isWanted else { return }
        var mask: Int32 = 0
        if events & EPOLLIN.rawValue != 0 { mask |= CURL_CSELECT_IN }
        if events & EPOLLOUT.rawValue != 0 { mask |= CURL_CSELECT_OUT }
        if events & (EPOLLERR.rawValue | EPOLLHUP.rawValue) != 0 { mask |= CURL_CSELECT_ERR }
        var running: Int32 = 0
        curl_multi_socket_action(multi, socket, mask, &running)
    }

    private func actOnTimer() {
        curlDeadline = .distantFuture
        var running: Int32 = 0
        curl_multi_socket_action(multi, CURL_SOCKET_TIMEOUT, 0, &running)
    }

    /// Answers for the transfers libcurl has ended.
    private func finishEnded() {
        var left: Int32 = 0
        while let message = curl_multi_info_read(multi, &left) {
            let code = sluice_message_result(message)
            guard let exchange = EngineLoop.exchange(of: message.pointee.easy_handle) else { continue }
            if exchange.mayBeginAgain() {
                curl_multi_remove_handle(multi, exchange.handle.raw)
                if curl_multi_add_handle(multi, exchange.handle.raw) == CURLM_OK { continue }
            }
            exchange.finish(code)
            retire(exchange)
        }
    }

    private func handOver() {
        guard !dirty.isEmpty else { return }
        for exchange in dirty where exchange.isDirty { exchange.flush() }
        dirty.removeAll(keepingCapacity: true)
    }

    /// Ends the transfers whose time is up and finds when to look again.
    private func expire() {
        nextDeadline = .distantFuture
        var expired: [(Transfer, SluiceError)] = []
        for exchange in active.values {
            guard let transfer = exchange.transfer else { continue }
            let deadline = exchange.deadline
            if deadline <= now {
                expired.append((transfer, transfer.timeout(at: now)))
            } else {
                nextDeadline = min(nextDeadline, deadline)
            }
        }
        for track in tracks.values {
            for transfer in track.queue.waiting {
                guard let total = transfer.context.timeouts.total else { continue }
                if transfer.started + total <= now {
                    expired.append((transfer, transfer.timeout(at: now)))
                } else {
                    nextDeadline = min(nextDeadline, transfer.started + total)
                }
            }
        }
        for (transfer, error) in expired { cancel(transfer, error: error) }
    }
}

// MARK: - libcurl's callbacks

extension EngineLoop {
    private func observeMulti() {
        let context = Unmanaged.passUnretained(self).toOpaque()
        sluice_multi_set_socket_callback(
            multi,
            { handle, socket, what, context, _ in
                EngineLoop.from(context)?.sockets.want(
                    socket,
                    what,
                    isOver: EngineLoop.exchange(of: handle)?.isOverByHTTP1 == true
                )
                return 0
            },
            context
        )
        sluice_multi_set_timer_callback(
            multi,
            { _, milliseconds, context in
                guard let engine = EngineLoop.from(context) else { return 0 }
                // On the round's clock: a timer of 0 ms is due in this round, not a millisecond after it.
                engine.curlDeadline = milliseconds < 0 ? .distantFuture : engine.now + .milliseconds(milliseconds)
                return 0
            },
            context
        )
        sluice_multi_set_long(multi, CURLMOPT_MAXCONNECTS, 1024)
    }

    /// Makes the socket of a connection, and knows of it.
    func openSocket(_ address: UnsafeMutablePointer<curl_sockaddr>) -> curl_socket_t {
        let type = address.pointee.socktype | Int32(SOCK_CLOEXEC.rawValue)
        let socket = socket(address.pointee.family, type, address.pointee.protocol)
        if socket >= 0 { sockets.opened(socket) }
        return socket
    }

    /// Lets the engine know of every connection's socket that closes, which may be after the handle that it was made for.
    func observeSockets(of handle: inout EasyHandle) {
        let context = Unmanaged.passUnretained(self).toOpaque()
        handle.set(CURLOPT_CLOSESOCKETDATA, pointer: context)
        handle.note(
            sluice_easy_set_close_socket_callback(handle.raw) { context, socket in
                EngineLoop.from(context)?.noteClosing(socket)
                return close(socket)
            }
        )
    }

    private func noteClosing(_ socket: curl_socket_t) {
        versions.close(sockets.port(of: socket))
        sockets.closed(socket)
    }

    /// The exchange that a handle belongs to; libcurl has handles of its own that belong to none.
    private static func exchange(of handle: UnsafeMutableRawPointer?) -> Exchange? {
        guard let handle else { return nil }
        var context: UnsafeMutableRawPointer?
        sluice_easy_get_pointer(handle, CURLINFO_PRIVATE, &context)
        return Exchange.from(context)
    }

    private static func from(_ context: UnsafeMutableRawPointer?) -> EngineLoop? {
        context.map { Unmanaged<EngineLoop>.fromOpaque($0).takeUnretainedValue() }
    }
}

extension SluiceError {
    fileprivate static let queueFull = SluiceError(
        .queueFull,
        "As many requests wait for the engine as may; send fewer at once or raise maximumWaitingTransfers."
    )
}
#endif
