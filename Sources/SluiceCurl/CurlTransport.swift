#if os(Linux)
import CCurl
import SluiceEngine
import SluiceHTTP
import Synchronization

/// The engine of Linux: libcurl's multi interface on a thread of its own.
///
/// All transports of a process share one engine thread and one pool of connections; each has limits and a queue of its
/// own. There is nothing to shut down: a transport is made and dropped like any value.
public struct CurlTransport: Transport {
    private let lane: Lane

    /// Makes a transport; the engine's thread starts with the first request of the process.
    public init(configuration: Configuration = Configuration()) {
        lane = Lane(configuration: configuration)
    }

    /// Sends a request and returns as soon as the head of the response is known.
    ///
    /// The head comes together with the whole body where both arrived at once, which spares a small response every
    /// further hop between threads.
    public func send(
        _ request: HTTPRequest,
        context: TransferContext
    ) async throws(SluiceError) -> TransportResponse {
        guard let mailbox = Engine.mailbox else { throw Engine.unavailable.with(request: request) }
        try request.validate()
        let started = MonotonicTime.now
        if let cookies = context.cookies, !cookies.isReady {
            do {
                try await cookies.prepare(within: context.timeouts.total)
            } catch {
                throw error.with(request: request)
            }
        }
        let upload: UploadSource
        do {
            upload = try UploadSource(try await request.body.prepared(within: context.timeouts.total))
        } catch {
            throw error.with(request: request)
        }
        let transfer = try Transfer(
            request: request,
            upload: upload,
            context: context,
            lane: lane,
            mailbox: mailbox,
            started: started
        )
        return try await transfer.run().get()
    }

    /// Whether libcurl knows which domains are public suffixes, as `co.uk` (publicsuffix.org), and refuses cookies that servers set for
    /// them. It was built with libpsl then.
    public static var checksPublicSuffixes: Bool { sluice_knows_public_suffixes() != 0 }

    /// How many transfers, handles and sockets the process's engine holds now.
    ///
    /// - Returns: A snapshot, taken on the engine's thread.
    public static func statistics() async -> CurlStatistics {
        guard let mailbox = Engine.mailbox else { return CurlStatistics() }
        return await withUnsafeContinuation { mailbox.post(.report($0)) }
    }
}

extension CurlTransport: CallbackTransport {
    package func begin(
        _ request: HTTPRequest,
        context: TransferContext,
        completion: @escaping @Sendable (Result<TransportResponse, SluiceError>) -> Void
    ) -> @Sendable () -> Void {
        if context.cookies?.isReady == false {
            // The file of its cookies has to be waited for, once in the life of a jar.
            let task = Task {
                do throws(SluiceError) {
                    completion(.success(try await send(request, context: context)))
                } catch {
                    completion(.failure(error))
                }
            }
            return { task.cancel() }
        }
        do throws(SluiceError) {
            guard let mailbox = Engine.mailbox else { throw Engine.unavailable.with(request: request) }
            try request.validate()
            let upload = try UploadSource(request.body)
            let transfer = try Transfer(
                request: request,
                upload: upload,
                context: context,
                lane: lane,
                mailbox: mailbox
            )
            transfer.begin(completion)
            return { transfer.cancel() }
        } catch {
            completion(.failure(error))
            return {}
        }
    }
}

/// What the engine holds at one moment.
public struct CurlStatistics: Sendable, Hashable {
    /// Transfers that libcurl works on.
    public var activeTransfers = 0
    /// Transfers that wait for a slot.
    public var queuedTransfers = 0
    /// libcurl handles, idle ones included.
    public var handles = 0
    /// Open connections, idle ones included.
    public var connections = 0
}

/// What the transfers of one transport share: its configuration, and a place in the engine's queues.
final class Lane: Sendable {
    private static let lastID = Atomic(0)

    /// Never given twice, unlike an address.
    let id = Lane.lastID.add(1, ordering: .relaxed).newValue
    let configuration: CurlTransport.Configuration

    init(configuration: CurlTransport.Configuration) {
        self.configuration = configuration
    }

    deinit {
        Engine.mailbox?.post(.forget(lane: id))
    }
}
#endif
