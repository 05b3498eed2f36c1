#if os(Linux)
import SluiceEngine
import SluiceFoundation
import SluiceHTTP
import Synchronization

/// A client of a Redis or Valkey server, whose commands share few connections.
///
/// ```swift
/// let redis = RedisClient(RedisServer(host: "cache.internal"))
/// let visits = try await redis.send(RedisCommand("INCR", "visits")).int
/// ```
///
/// The first command connects. A lost connection is opened again for the next command. While the server cannot be reached, commands fail
/// at once, between attempts that follow the back-off of ``RedisServer``. Commands of any number of tasks are sent without waiting for the
/// replies of others. A command that is cancelled or takes too long ends for its caller at once, and its reply is dropped.
///
/// Blocking commands, such as `BLPOP`, hold up the commands of others. Subscriptions and transactions over several commands are not
/// supported. A reply has at most 16 MiB in one string and 32 MiB in total.
public final class RedisClient: Sendable {
    package let server: RedisServer
    private let links: Result<[RedisLink], RedisError>
    private let next = Atomic(0)

    /// Creates a client, which connects with its first command.
    ///
    /// - Parameter server: The server.
    public init(_ server: RedisServer) {
        self.server = server
        do throws(SluiceError) {
            let engine = try Engine.available.get()
            let destination = try Dial.Destination(server)
            links = .success((0..<max(1, server.connections)).map { _ in RedisLink(server, destination, of: engine) })
        } catch {
            links = .failure(.unavailable(server, error))
        }
    }

    deinit {
        if case .success(let links) = links {
            for link in links { link.close() }
        }
    }

    /// Sends a command and waits for its reply.
    ///
    /// - Parameters:
    ///   - command: The command.
    ///   - timeout: The time for this command in place of ``RedisServer/commandTimeout``.
    /// - Returns: The reply, which is no ``RedisValue/error(_:)``.
    /// - Throws: A ``RedisError``. If its code says that the server may have executed the command, it may also do that later.
    public func send(_ command: RedisCommand, timeout: Duration? = nil) async throws(RedisError) -> RedisValue {
        let links = try links.get()
        let deadline = MonotonicTime.now + (timeout ?? server.commandTimeout)
        var bytes: [UInt8] = []
        bytes.reserveCapacity(command.size)
        command.write(to: &bytes)
        let turn = UInt(bitPattern: next.wrappingAdd(1, ordering: .relaxed).oldValue)
        let link = links[Int(turn % UInt(links.count))]
        let reply = PendingReply()
        return try await reply.outcome { [bytes] in
            link.send(reply, bytes, deadline: deadline, isIdempotent: command.isIdempotent)
        }.get()
    }

    /// Runs a script on the server.
    ///
    /// The server gets the hash of the script. If it does not have the script, it gets the whole of it.
    ///
    /// - Parameters:
    ///   - script: The script.
    ///   - keys: All keys that the script uses.
    ///   - arguments: The other arguments.
    ///   - timeout: The time for each command in place of ``RedisServer/commandTimeout``.
    /// - Returns: The result of the script.
    /// - Throws: A ``RedisError``.
    public func run(
        _ script: RedisScript,
        keys: [String],
        arguments: [any RedisArgument] = [],
        timeout: Duration? = nil
    ) async throws(RedisError) -> RedisValue {
        do throws(RedisError) {
            return try await send(script.command(keys: keys, arguments: arguments, isHash: true), timeout: timeout)
        } catch {
            guard error.code == .noScript else { throw error }
            return try await send(script.command(keys: keys, arguments: arguments, isHash: false), timeout: timeout)
        }
    }
}

extension Dial.Destination {
    /// Creates the destination of a server's connections, which use no proxy.
    fileprivate init(_ server: RedisServer) throws(SluiceError) {
        var options = ConnectionOptions()
        options.proxy = .none
        if let tls = server.tls { options.tls = tls }
        var authority = "localhost"
        switch server.address {
        case .tcp: authority = server.description
        case .unixSocket(let path): options.unixSocket = path
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
