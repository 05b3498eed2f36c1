#if os(Linux)
import CCrypto
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
/// The first redirection (`MOVED`, `ASK`) shows that the server is a node of a cluster. The client then sends each command to the node
/// that owns its keys, with connections, credentials and limits of their own for each node. Commands without a key go to one node.
///
/// Blocking commands, such as `BLPOP`, hold up the commands of others. Commands that change the connection, which all tasks share, fail
/// with ``RedisError/Code/refused``: subscriptions, transactions over several commands, `SELECT`, `AUTH` and others of their kind. A reply
/// has at most 16 MiB in one string and 32 MiB in total.
public final class RedisClient: Sendable {
    package let server: RedisServer
    /// The router, created for the first command.
    private let created = AtomicLazyReference<RedisRouter>()

    /// Creates a client, which connects with its first command.
    ///
    /// - Parameter server: The server.
    public init(_ server: RedisServer) {
        self.server = server
    }

    deinit {
        created.load()?.close()
    }

    /// The router, or the error for which it could not be created, which is tried again.
    private var router: Result<RedisRouter, RedisError> {
        // The threads of a router that the parent of a forked process has created do not exist here.
        if !Engine.isForked, let router = created.load() { return .success(router) }
        return Engine.available.mapError { .unavailable(server, $0) }
            .flatMap { engine in Result { () throws(RedisError) in try RedisRouter(server, of: engine) } }
            .map { new in
                let router = created.storeIfNil(new)
                if router !== new { new.close() }
                return router
            }
    }

    /// Sends a command and waits for its reply.
    ///
    /// - Parameters:
    ///   - command: The command.
    ///   - timeout: The time for this command in place of ``RedisServer/commandTimeout``.
    /// - Returns: The reply, which is not a ``RedisValue/error(_:)``.
    /// - Throws: A ``RedisError``. With a code that says that the server may have executed the command, the server may also execute it
    ///   later.
    public func send(_ command: RedisCommand, timeout: Duration? = nil) async throws(RedisError) -> RedisValue {
        if command.changesConnection {
            throw RedisError(
                .refused,
                "“\(command.name)” was not sent, because it would change the connection that other commands share."
            )
        }
        let deadline = MonotonicTime.now + (timeout ?? server.commandTimeout)
        return try await router.get().send(RedisNode.Message(command: command, deadline: deadline))
    }

    /// Sends an idempotent command without a task.
    ///
    /// - Parameters:
    ///   - command: The command.
    ///   - completion: Called once with the reply or the error, on any thread, which it must not block.
    package func send(
        idempotent command: RedisCommand,
        completion: @escaping @Sendable (Result<RedisValue, RedisError>) -> Void
    ) {
        switch router {
        case .success(let router):
            let deadline = MonotonicTime.now + server.commandTimeout
            router.send(RedisNode.Message(command: command, deadline: deadline), completion: completion)
        case .failure(let error): completion(.failure(error))
        }
    }

    /// Sends a command that waits on the server, such as `XREAD BLOCK`, on a connection that no other command uses meanwhile.
    ///
    /// When the caller is cancelled, or the time is over, the connection is closed, which also ends the command on the server.
    ///
    /// - Parameters:
    ///   - command: The command.
    ///   - timeout: The time for the command. It must be longer than the time that the server waits.
    /// - Returns: The reply, which is not a ``RedisValue/error(_:)``.
    /// - Throws: A ``RedisError``.
    package func sendBlocking(_ command: RedisCommand, timeout: Duration) async throws(RedisError) -> RedisValue {
        let message = RedisNode.Message(command: command, deadline: .now + timeout, isBlocking: true)
        return try await router.get().send(message)
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

    /// Asks the server for its treatment of a full memory. A server that keeps a cache should evict older values.
    ///
    /// Of a cluster, one node is asked.
    ///
    /// - Returns: A sentence for logs if the server has a limit (`maxmemory`) at which it refuses writes (`noeviction`), otherwise nil.
    /// - Throws: A ``RedisError``, for example if the user may not send `INFO`.
    public func evictionWarning() async throws(RedisError) -> String? {
        let info = try await send(RedisCommand("INFO", "memory", isIdempotent: true)).data
        let policy = EvictionPolicy(info: String(decoding: info?.prefix(16 << 10) ?? Data(), as: UTF8.self))
        guard policy.refusesWrites else { return nil }
        return """
            The Redis server at \(server) refuses writes once its \(policy.limit) bytes are full. For a cache, set maxmemory-policy to \
            allkeys-lru.
            """
    }
}

// MARK: - Redis script

/// A script in Lua that the server runs as one step.
///
/// ```swift
/// let script = RedisScript("return redis.call('INCRBY', KEYS[1], ARGV[1])")
/// let sum = try await redis.run(script, keys: ["visits"], arguments: [5]).int
/// ```
public struct RedisScript: Sendable {
    /// The text of the script.
    public let source: String
    /// True if the script may run again after its connection was lost, although the server may have run it.
    public let isIdempotent: Bool
    /// The SHA-1 of the source in hexadecimal digits, by which servers name it.
    private let hash: String?

    /// Creates a script.
    ///
    /// - Parameters:
    ///   - source: The text of the script.
    ///   - isIdempotent: True if the script may run again after its connection was lost. False by default.
    public init(_ source: String, isIdempotent: Bool = false) {
        self.source = source
        self.isIdempotent = isIdempotent
        var digest = [UInt8](repeating: 0, count: 20)
        let bytes = Array(source.utf8)
        let isHashed = crypto.EVP_Digest(bytes, bytes.count, &digest, nil, crypto.EVP_sha1(), nil) == 1
        hash = isHashed ? HexText.text(of: digest[...]) : nil
    }

    /// Returns the command that runs the script.
    func command(keys: [String], arguments: [any RedisArgument], isHash: Bool) -> RedisCommand {
        var words: [any RedisArgument] = [keys.count]
        words += keys
        words += arguments
        // Where SHA-1 is not permitted (FIPS), the whole script is sent.
        if isHash, let hash { return RedisCommand("EVALSHA", arguments: [hash] + words, isIdempotent: isIdempotent) }
        return RedisCommand("EVAL", arguments: [source] + words, isIdempotent: isIdempotent)
    }
}
#endif
