#if os(Linux)
import SluiceEngine
import SluiceHTTP
import Synchronization

/// The connections to one server or one node of a cluster, each of which is opened for its first command.
///
/// Small commands share some of them in rotation. Commands with large arguments or replies share another, because a connection transmits
/// one reply after the other. A blocking command has one of its own while it runs.
final class RedisNode: Sendable {
    /// A command as it is sent.
    struct Message: Sendable {
        let command: RedisCommand
        let deadline: MonotonicTime
        /// True for a command that waits on the server.
        var isBlocking = false
        /// True for a command that follows an `ASK` redirection.
        var isAsking = false

        /// The command as it is sent, with the one that must stand right before it.
        fileprivate var bytes: [UInt8] {
            var bytes: [UInt8] = []
            bytes.reserveCapacity(command.size + 32)
            if isAsking { RedisCommand("ASKING").write(to: &bytes) }
            command.write(to: &bytes)
            return bytes
        }
    }

    /// The size of arguments and replies above which a command is large.
    private static let largeSize = 64 << 10
    /// The number of idle connections that are kept for blocking commands.
    private static let maximumIdle = 4

    let server: RedisServer
    private let route: RedisLink.Route
    private let engine: Engine
    private let links: [RedisLink]
    private let large: RedisLink
    private let next = Atomic(0)
    private let idle = Locked<[RedisLink]?>([])

    init(_ server: RedisServer, of engine: Engine) throws(RedisError) {
        do throws(SluiceError) {
            switch server.address {
            case .primary(let name): route = .primary(PrimaryLocator(server, name: name))
            case .tcp, .unixSocket: route = .fixed(try Dial.Destination(server))
            }
        } catch {
            throw .unavailable(server, error)
        }
        self.server = server
        self.engine = engine
        links = (0..<min(max(1, server.connections), 256)).map { [route] _ in RedisLink(server, route, of: engine) }
        large = RedisLink(server, route, of: engine)
    }

    /// The host that an empty host in announcements of this node stands for.
    var host: String? {
        if case .tcp(let host, _) = server.address { host } else { nil }
    }

    /// Sends a command and waits for its reply.
    func send(_ message: Message) async throws(RedisError) -> RedisValue {
        let bytes = message.bytes
        let link = message.isBlocking ? takeIdle() : sharedLink(for: message, bytes.count)
        let reply = PendingReply()
        let outcome = await reply.outcome { link.send(reply, bytes, of: message) }
        if message.isBlocking {
            // Without a reply the server still waits, until the connection is closed.
            if case .failure(let error) = outcome, error.reply == nil { link.close() } else { keep(link) }
        }
        return try outcome.get()
    }

    /// Sends a command that does not wait on the server.
    ///
    /// - Parameters:
    ///   - message: The command.
    ///   - completion: Called once with the outcome, on the thread of the connection, which it must not block.
    func send(_ message: Message, completion: @escaping @Sendable (PendingReply.Outcome) -> Void) {
        let bytes = message.bytes
        sharedLink(for: message, bytes.count).send(PendingReply(completion), bytes, of: message)
    }

    /// Closes the connections once no command is under way. Later commands open them again.
    func retire() {
        for link in links + [large] { link.retire() }
        for link in idle.withLock({ $0.take() }) ?? [] { link.close() }
    }

    /// Closes the connections for good, when no caller can be left.
    func close() {
        for link in links + [large] + (idle.withLock { $0.take() } ?? []) { link.close() }
    }

    /// Returns the next connection, but none that pauses if there is another.
    private func sharedLink(for message: Message, _ size: Int) -> RedisLink {
        if message.command.hasLargeReply || size > RedisNode.largeSize { return large }
        let turn = Int(UInt(bitPattern: next.wrappingAdd(1, ordering: .relaxed).oldValue) % UInt(links.count))
        let now = MonotonicTime.now
        for offset in links.indices {
            let link = links[(turn + offset) % links.count]
            if !link.refuses(at: now) { return link }
        }
        return links[turn]
    }

    private func takeIdle() -> RedisLink {
        idle.withLock { $0?.popLast() } ?? RedisLink(server, route, of: engine)
    }

    private func keep(_ link: RedisLink) {
        let isKept = idle.withLock { idle in
            guard let count = idle?.count, count < RedisNode.maximumIdle else { return false }
            idle?.append(link)
            return true
        }
        if !isKept { link.close() }
    }
}

extension Dial.Destination {
    /// Creates the destination of a server's connections, which use no proxy.
    init(_ server: RedisServer) throws(SluiceError) {
        var options = ConnectionOptions()
        options.proxy = .none
        if let tls = server.tls { options.tls = tls }
        var authority = "localhost"
        switch server.address {
        case .tcp: authority = server.description
        case .unixSocket(let path): options.unixSocket = path
        case .primary: break
        }
        let origin = HTTPOrigin(scheme: server.tls == nil ? "http" : "https", authority: authority)
        self.init(
            plan: try options.plan(for: origin),
            origin: origin,
            authority: authority,
            serverName: server.description,
            route: nil,
            protocols: []
        )
    }
}
#endif
