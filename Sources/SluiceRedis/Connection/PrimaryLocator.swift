#if os(Linux)
import SluiceFoundation
import SluiceHTTP

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
    /// Each has a part of the time for a connection, so that one that is away leaves time for the others and for the primary.
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
        guard let words = reply.elements, words.count == 2, let host = words[0].string, let port = words[1].int else {
            return nil
        }
        return NodeAddress(host: host, port: port)
    }
}
#endif
