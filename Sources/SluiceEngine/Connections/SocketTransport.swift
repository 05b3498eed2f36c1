#if os(Linux)
import SluiceHTTP
import Synchronization

/// The transport for Linux: HTTP/1.1 and HTTP/2 over sockets, with TLS by OpenSSL.
///
/// Each transport has its own connections and limits. All transports share the threads of the process. A transport needs no shutdown: its
/// idle connections are closed when it is released.
public struct SocketTransport: Transport {
    private typealias Continuation = UnsafeContinuation<Result<TransportResponse, SluiceError>, Never>

    private let client: Client

    /// Closes the connections when the last copy of the transport is released.
    private final class Client: Sendable {
        fileprivate let configuration: Configuration
        private let resolver: Resolver
        /// The connections, created for the first request.
        fileprivate let created = AtomicLazyReference<ConnectionPool>()

        init(_ configuration: Configuration, _ resolver: Resolver = .shared) {
            self.configuration = configuration
            self.resolver = resolver
        }

        /// The connections, or the error if the engine cannot start. A later access tries again.
        var pool: Result<ConnectionPool, SluiceError> {
            if let pool = created.load() { return .success(pool) }
            return Engine.available.map { engine in
                let new = ConnectionPool(configuration, engine, resolver: resolver)
                let pool = created.storeIfNil(new)
                if pool !== new { new.close() }
                return pool
            }
        }

        deinit {
            created.load()?.closeLater()
        }
    }

    /// The connections, or nil if the engine cannot start.
    var pool: ConnectionPool? { try? client.pool.get() }

    package var decompressesResponses: Bool { client.configuration.decompressesResponses }

    /// Creates a transport with a resolver of its own.
    init(configuration: Configuration = Configuration(), resolver: Resolver) {
        client = Client(configuration, resolver)
    }

    /// Creates a transport. The first request of the process starts the engine's threads.
    public init(configuration: Configuration = Configuration()) {
        client = Client(configuration)
    }

    /// Sends a request and returns when the head of the response is known, or with the whole body if both arrive together.
    public func send(
        _ request: HTTPRequest,
        context: TransferContext
    ) async throws(SluiceError) -> TransportResponse {
        let origin = request.origin
        let plan = try plan(of: request, origin, context)
        let credentials = try context.credentials(for: request)
        let started = MonotonicTime.now
        let upload: UploadSource
        do {
            if let cookies = context.cookies, !cookies.isReady {
                try await cookies.prepare(within: context.timeouts.total)
            }
            upload = try UploadSource(try await request.body.prepared(within: context.timeouts.total))
        } catch {
            throw error.with(request: request)
        }
        let running = CancellableCall()
        defer { running.synchronize() }
        let result = await withTaskCancellationHandler {
            await withUnsafeContinuation { (continuation: Continuation) in
                let created = self.call(request, origin, context, plan, credentials, upload, started) {
                    continuation.resume(returning: $0)
                }
                switch created {
                case .success(let call): running.begin(call)
                case .failure(let error): continuation.resume(returning: .failure(error))
                }
            }
        } onCancel: {
            running.cancel()
        }
        return try result.get()
    }

    private func plan(
        of request: HTTPRequest,
        _ origin: HTTPOrigin,
        _ context: TransferContext
    ) throws(SluiceError) -> ConnectionPlan {
        try request.validate()
        do {
            return try context.connection.plan(for: origin)
        } catch {
            throw error.with(request: request)
        }
    }

    private func call(
        _ request: HTTPRequest,
        _ origin: HTTPOrigin,
        _ context: TransferContext,
        _ plan: ConnectionPlan,
        _ credentials: ChallengeCredentials?,
        _ upload: UploadSource,
        _ started: MonotonicTime,
        _ completion: @escaping Call.Completion
    ) -> Result<Call, SluiceError> {
        if Engine.isForked { return .failure(Engine.forked.with(request: request)) }
        return client.pool.mapError { $0.with(request: request) }.map { pool in
            Call(
                request,
                upload: upload,
                context: context,
                plan: plan,
                origin: origin,
                pool: pool,
                started: started,
                credentials: credentials,
                completion: completion
            )
        }
    }

    /// Sets the number of event loops that serve all transports of the process. Each loop is a thread.
    ///
    /// The engine starts with the first request. Call this function before, because later calls have no effect. By default there
    /// is one loop per two processors, and at most eight.
    ///
    /// - Parameter count: The number of loops. Values below 1 count as 1, values above 256 as 256.
    public static func setLoopCount(_ count: Int) {
        Engine.requestedLoops.store(min(max(1, count), 256), ordering: .relaxed)
    }

    /// Returns the number of transfers and connections of all transports of the process.
    ///
    /// - Returns: A snapshot.
    package static func statistics() -> Statistics {
        guard let engine = try? Engine.available.get() else {
            return Statistics(activeTransfers: 0, queuedTransfers: 0, connections: 0)
        }
        return engine.descriptors.statistics
    }
}

extension SocketTransport: CallbackTransport {
    package func begin(
        _ request: HTTPRequest,
        context: TransferContext,
        completion: @escaping @Sendable (Result<TransportResponse, SluiceError>) -> Void
    ) -> @Sendable () -> Void {
        do throws(SluiceError) {
            let origin = request.origin
            let plan = try plan(of: request, origin, context)
            let credentials = try context.credentials(for: request)
            if context.cookies?.isReady == false {
                // The cookie file must be read first, once in the lifetime of a jar.
                let task = Task {
                    completion(await .of { () async throws(SluiceError) in try await send(request, context: context) })
                }
                return { task.cancel() }
            }
            let upload = try UploadSource(request.body)
            let call = try call(request, origin, context, plan, credentials, upload, .now, completion).get()
            call.pool.begin(call)
            return { call.cancel() }
        } catch {
            completion(.failure(error))
            return {}
        }
    }
}

extension SocketTransport: PooledTransport {
    package var connections: ConnectionSnapshot { client.created.load()?.snapshot ?? ConnectionSnapshot() }

    package func connect(
        to request: HTTPRequest,
        count: Int,
        context: TransferContext
    ) async throws(SluiceError) -> Int {
        let origin = request.origin
        let plan = try plan(of: request, origin, context)
        if Engine.isForked { throw Engine.forked.with(request: request) }
        let destination = Dial.Destination(
            plan: plan,
            origin: origin,
            authority: request.authority,
            serverName: plan.serverName(of: request),
            route: ProxyRoute(plan, to: origin)
        )
        do throws(SluiceError) {
            return try await client.pool.get().connect(count, to: destination, within: context.timeouts.connect)
        } catch {
            throw error.with(request: request)
        }
    }

    package func reloadCertificates(of options: ConnectionOptions) async throws(SluiceError) {
        let protocols = options.httpVersion.protocols
        let proxy = options.proxy.fixed.flatMap { ProxyRoute.tls($0) }
        let queue = BlockingQueues.certificates(of: TLSPolicy(options.tls, protocols))
        let result = await queue.result { () -> Result<Void, TLSFailure> in
            // One that cannot be used does not keep the others from being replaced.
            var result: Result<Void, TLSFailure> = .success(())
            func reload(_ tls: TLSConfiguration, offering protocols: [String]) {
                do throws(TLSFailure) {
                    try TLSContext.reload(tls, offering: protocols)
                } catch {
                    result = .failure(error)
                }
            }
            for tls in [options.tls] + options.tlsByHost.values {
                reload(tls, offering: protocols)
                // A server that requires HTTP/1.1 has connections of its own.
                let http1 = ["http/1.1"]
                if protocols != http1, TLSContext.isUsed(for: tls, offering: http1) { reload(tls, offering: http1) }
            }
            if let proxy { reload(proxy, offering: ProxyRoute.protocols) }
            return result
        }
        client.created.load()?.retire { $0.isOutdated }
        if case .failure(let failure) = result {
            throw SluiceError(
                .tlsFailed,
                "The certificates could not be reloaded: \(failure.reason).",
                underlyingError: failure
            )
        }
    }

    package func retireConnections() { client.created.load()?.retire() }
}

/// Forwards the cancellation of a task to a call that may not have started.
private final class CancellableCall: Sendable {
    private enum Stage {
        case idle
        case running(Call)
        case cancelled
    }

    private let stage = Locked(Stage.idle)

    func begin(_ call: Call) {
        let isCancelled = stage.withLock { stage in
            if case .cancelled = stage { return true }
            stage = .running(call)
            return false
        }
        if isCancelled { call.cancel() } else { call.pool.begin(call) }
    }

    func cancel() {
        let call: Call? = stage.withLock { stage in
            defer { stage = .cancelled }
            if case .running(let call) = stage { return call } else { return nil }
        }
        call?.cancel()
    }

    /// Takes the lock once, so that the thread sanitizer orders the engine's writes before the caller's reads.
    func synchronize() {
        let call: Call? = stage.withLock { stage in
            if case .running(let call) = stage { return call } else { return nil }
        }
        call?.synchronize()
    }
}

extension SocketTransport {
    /// The number of transfers and connections of a process at one moment.
    package struct Statistics: Sendable, Hashable {
        /// The number of transfers that have a slot.
        package let activeTransfers: Int
        /// The number of transfers that wait for a slot.
        package let queuedTransfers: Int
        /// The number of open connections, including idle ones.
        package let connections: Int
    }

    /// The limits and time-outs of a transport.
    public struct Configuration: Sendable, Hashable {
        /// The maximum number of concurrent transfers to one origin. Further transfers wait. 128 by default.
        public var maximumTransfersPerHost = 128
        /// The maximum number of concurrent transfers in total. Further transfers wait, and hosts take turns. 512 by default.
        public var maximumTransfers = 512
        /// The maximum numbers of connections to single hosts; empty by default.
        ///
        /// ```swift
        /// configuration.maximumConnectionsByHost["legacy.example"] = 2
        /// ```
        ///
        /// If several patterns match a host, the most specific one applies. Values below 1 count as 1. A request that finds
        /// all connections in use waits for one of them, for as long as its total time-out allows. Each port of a host, and
        /// each set of TLS options and proxies, has its own connections and its own maximum.
        public var maximumConnectionsByHost: [HostPattern: Int] = [:]
        /// The maximum number of transfers that wait for a slot. Further transfers fail at once with ``SluiceError/Code/queueFull``, and
        /// nothing of them is sent. 16,384 by default. With 0, no transfer waits.
        public var maximumWaitingTransfers = 16_384
        /// True to request and decode gzip, deflate, br and zstd. True by default. A request with `Range` asks for no coding, and the body
        /// of a 206 response is never decoded.
        public var decompressesResponses = true
        /// The number of unread response bytes above which the engine stops reading from the connection. 256 KiB by default. On an HTTP/2
        /// connection, which other requests use too, the flow-control window of the stream limits what arrives after that.
        public var responseBufferSize = 256 << 10
        /// The time for which an idle connection is kept open. 90 seconds by default.
        ///
        /// A value below the idle time-out of servers and load balancers avoids requests on connections that are being closed. If a server
        /// announces a shorter time in `Keep-Alive`, the connection closes a second before that, or after half of a time below 2 seconds.
        public var idleConnectionTimeout = Duration.seconds(90)
        /// The maximum age at which a connection takes a request. Nil, the default, for no limit.
        ///
        /// With a limit, new connections pick up changes of the addresses of a name, which are looked up again after a minute
        /// at most. The age of each connection is limited by a random time between 80% and 100% of this one, so that the
        /// processes of a fleet do not connect all at once.
        public var connectionLifetime: Duration?
        /// The time without input from an HTTP/2 server that owes a response before a PING is sent, and the time allowed for its answer.
        package var pingInterval = Duration.seconds(10)

        /// Creates a configuration with the default values.
        public init() {}
    }
}
#endif
