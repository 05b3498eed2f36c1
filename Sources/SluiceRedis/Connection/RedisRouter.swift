#if os(Linux)
import SluiceEngine
import SluiceFoundation
import SluiceHTTP
import Synchronization

/// Chooses the node for each command, and follows the redirections of a cluster.
///
///     one server     every command                 → the server
///                    a redirection                 → a cluster
///     a cluster      a command                     → the primary of its slot, or the first primary if it has no key
///                    MOVED                         → that node; the slot is moved, and the whole map is fetched again
///                    ASK                           → that node, for this command only
///                    TRYAGAIN                      → the same node, after a short pause
///                    an unavailable node           → the whole map is fetched again
///
/// The map is fetched in the background, at most once a second.
final class RedisRouter: Sendable {
    private struct State {
        var map = SlotMap()
        var nodes: [NodeAddress: RedisNode] = [:]
        var isFetching = false
        var nextFetch = MonotonicTime(nanoseconds: .min)
        var isClosed = false
    }

    /// The number of redirections that one command follows at most.
    private static let maximumRedirections = 5
    /// The number of times that one command is sent again while its keys are on two nodes.
    private static let maximumRepetitions = 16
    /// The pause before each of them.
    private static let repetitionPause = Duration.milliseconds(5)
    /// The minimum time between the starts of two fetches of the map.
    private static let fetchInterval = Duration.seconds(1)

    private let engine: Engine
    /// The server that the client was created with.
    private let seed: RedisNode
    private let isCluster = Atomic(false)
    private let state = Locked(State())

    init(_ server: RedisServer, of engine: Engine) throws(RedisError) {
        self.engine = engine
        seed = try RedisNode(server, of: engine)
    }

    func send(_ first: RedisNode.Message) async throws(RedisError) -> RedisValue {
        var message = first
        var node = try isCluster.load(ordering: .relaxed) ? node(for: message.command) : seed
        var (redirections, repetitions) = (0, 0)
        while true {
            do throws(RedisError) {
                return try await node.send(message)
            } catch {
                if error.code == .tryAgain, repetitions < RedisRouter.maximumRepetitions,
                    .now + RedisRouter.repetitionPause < message.deadline
                {
                    repetitions += 1
                    do { try await Task.sleep(for: RedisRouter.repetitionPause) } catch { throw .cancelled }
                    continue
                }
                guard let reply = error.reply, let redirection = Redirection(reply, from: node.host),
                    redirections < RedisRouter.maximumRedirections
                else {
                    notice(error)
                    throw error
                }
                redirections += 1
                message.isAsking = redirection.isAsk
                node = try follow(redirection)
            }
        }
    }

    /// Sends an idempotent command without a task.
    ///
    /// - Parameters:
    ///   - message: The command. It is sent again if it is redirected.
    ///   - completion: Called once with the outcome, on any thread, which it must not block.
    func send(_ message: RedisNode.Message, completion: @escaping @Sendable (PendingReply.Outcome) -> Void) {
        let node: RedisNode
        do throws(RedisError) {
            node = try isCluster.load(ordering: .relaxed) ? self.node(for: message.command) : seed
        } catch {
            return completion(.failure(error))
        }
        node.send(message) { [self] outcome in
            guard case .failure(let error) = outcome else { return completion(outcome) }
            guard let reply = error.reply, Redirection(reply, from: node.host) != nil else {
                notice(error)
                return completion(outcome)
            }
            Task {
                completion(await .of { () async throws(RedisError) in try await send(message) })
            }
        }
    }

    /// Closes all connections for good, when no caller can be left.
    func close() {
        let nodes = state.withLock { state in
            state.isClosed = true
            return Array(state.nodes.values)
        }
        for node in nodes + [seed] { node.close() }
    }

    // MARK: Nodes

    private func node(for command: RedisCommand) throws(RedisError) -> RedisNode {
        let keys = CommandKeys(of: command)
        if keys == .severalSlots { throw .severalSlots }
        return try state.withLock { state throws(RedisError) in
            let address =
                switch keys {
                case .slot(let slot): state.map[slot]
                case .none, .severalSlots: state.map.primaries.first
                }
            return try address.map { address throws(RedisError) in try node(at: address, &state) } ?? seed
        }
    }

    private func node(at address: NodeAddress, _ state: inout State) throws(RedisError) -> RedisNode {
        if let node = state.nodes[address] { return node }
        guard !state.isClosed else { throw .cancelled }
        var server = seed.server
        server.address = .tcp(host: address.host, port: address.port)
        let node = try RedisNode(server, of: engine)
        // More addresses than nodes are those of nodes that have left.
        if state.nodes.count >= 2 * SlotMap.maximumNodes { removeUnknownNodes(&state) }
        state.nodes[address] = node
        return node
    }

    private func follow(_ redirection: Redirection) throws(RedisError) -> RedisNode {
        isCluster.store(true, ordering: .relaxed)
        let node = try state.withLock { state throws(RedisError) in
            let address = state.map.named(redirection.address)
            if !redirection.isAsk { state.map.move(redirection.slot, to: address) }
            return try self.node(at: address, &state)
        }
        if !redirection.isAsk { fetchMap(from: node) }
        return node
    }

    /// Retires the nodes that the map does not have.
    private func removeUnknownNodes(_ state: inout State) {
        let known = Set(state.map.primaries + state.map.replicas)
        for (address, node) in state.nodes where !known.contains(address) {
            state.nodes[address] = nil
            node.retire()
        }
    }

    // MARK: Map

    /// Fetches the map after an error that another map may end.
    private func notice(_ error: RedisError) {
        guard isCluster.load(ordering: .relaxed) else { return }
        switch error.code {
        case .unavailable, .connectionLost, .timedOut, .loading, .clusterDown, .moved: fetchMap(from: nil)
        default: return
        }
    }

    /// Fetches the map in the background from the first node that answers.
    ///
    /// - Parameter first: The node to ask first; nil for any.
    private func fetchMap(from first: RedisNode?) {
        let now = MonotonicTime.now
        let nodes = state.withLock { state -> [RedisNode]? in
            guard !state.isFetching, !state.isClosed, now >= state.nextFetch else { return nil }
            state.isFetching = true
            state.nextFetch = now + RedisRouter.fetchInterval
            for address in state.map.primaries + state.map.replicas { _ = try? node(at: address, &state) }
            return Array(state.nodes.values)
        }
        guard let nodes else { return }
        Task {
            // Not in the order of the nodes, so that the clients of a fleet ask different ones.
            for node in (first.map { [$0] } ?? []) + nodes.shuffled() + [seed] {
                if await fetchMap(only: node) { break }
            }
            state.withLock { $0.isFetching = false }
        }
    }

    private func fetchMap(only node: RedisNode) async -> Bool {
        let server = node.server
        let command = RedisCommand("CLUSTER", "SLOTS", isIdempotent: true)
        let message = RedisNode.Message(command: command, deadline: .now + server.connectTimeout)
        guard let reply = try? await node.send(message),
            let map = SlotMap(reply, from: node.host, prefersNames: server.tls != nil), !map.primaries.isEmpty
        else { return false }
        state.withLock { state in
            state.map = map
            removeUnknownNodes(&state)
        }
        return true
    }
}

extension RedisError {
    static let severalSlots = RedisError(
        .crossSlot,
        "The keys of the command have several hash slots, so no node of the cluster has all of them. Give them the same hash tag."
    )
}

// MARK: - Primary locator

/// Asks sentinels for the address of a primary before each connection to it.
final class PrimaryLocator: Sendable {
    /// An address of the primary.
    struct Location: Sendable {
        let address: NodeAddress
        /// The number of different addresses so far. A connection with a lower number is one to a former primary.
        let version: Int
    }

    private struct State {
        /// The indices of the sentinels, beginning with the one that answered last.
        var order: [Int]
        var location: Location?
    }

    private let server: RedisServer
    private let name: String
    private let state: Locked<State>

    init(_ server: RedisServer, name: String) {
        self.server = server
        self.name = name
        state = Locked(State(order: Array(server.sentinels.indices)))
    }

    /// The version of the last address; 0 before the first answer.
    var version: Int { state.withLock { $0.location?.version ?? 0 } }

    /// Asks the sentinels in turn until one knows the primary.
    ///
    /// Each has a part of the time for a connection, so that an unavailable one leaves time for the others and for the primary.
    func locate(before deadline: MonotonicTime) async -> Result<Location, RedisError> {
        let part = server.connectTimeout / (server.sentinels.count + 1)
        var failure: RedisError?
        for index in state.withLock({ $0.order }) {
            let timeout = min(part, deadline.since(.now))
            guard timeout > .zero, !Task.isCancelled else { break }
            var sentinel = server.sentinels[index]
            sentinel.connections = 1
            sentinel.connectTimeout = min(sentinel.connectTimeout, timeout)
            do throws(RedisError) {
                let question = RedisCommand("SENTINEL", "get-master-addr-by-name", name)
                let reply = try await RedisClient(sentinel).send(question, timeout: timeout)
                if let address = PrimaryLocator.address(in: reply) { return .success(found(address, by: index)) }
                let text = "The sentinel at \(sentinel) does not monitor a primary named “\(name)”."
                failure = RedisError(.invalidReply, text)
            } catch {
                failure = error
            }
        }
        return .failure(.unavailable(server, failure))
    }

    private func found(_ address: NodeAddress, by index: Int) -> Location {
        state.withLock { state in
            state.order.removeAll { $0 == index }
            state.order.insert(index, at: 0)
            let last = state.location
            let isSame = last?.address == address
            let location = isSame ? last : nil
            let new = location ?? Location(address: address, version: (last?.version ?? 0) + 1)
            state.location = new
            return new
        }
    }

    /// Reads the host and the port of the reply.
    private static func address(in reply: RedisValue) -> NodeAddress? {
        guard let words = reply.elements, words.count == 2, let host = words[0].word, let port = words[1].int else {
            return nil
        }
        return NodeAddress(host: host, port: port)
    }
}
#endif
