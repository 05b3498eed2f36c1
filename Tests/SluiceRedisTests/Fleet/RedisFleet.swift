#if os(Linux)
import Foundation
import SluiceRedis

/// A primary, a replica, and three sentinels that watch them under the name “shop”.
struct SentinelFleet {
    let primary: RedisProcess
    let primaryPort: Int
    let replicaPort: Int
    private let replica: RedisProcess
    private let sentinels: [(RedisProcess, Int)]

    /// Starts the servers, and waits until they know each other.
    init() async throws {
        let password = ["--requirepass", "data", "--masterauth", "data"]
        (primary, primaryPort) = try RedisProcess.onPort("--port", password)
        let replicaOf = ["--replicaof", "127.0.0.1 \(primaryPort)", "--repl-diskless-sync-delay", "0"]
        (replica, replicaPort) = try RedisProcess.onPort("--port", password + replicaOf)
        let lines = """
            requirepass watch
            sentinel sentinel-pass watch
            sentinel auth-pass shop data
            """
        let port = primaryPort
        sentinels = try (0..<3).map { _ in try RedisProcess.sentinel(of: port, quorum: 2, lines) }
        for (_, port) in sentinels {
            let client = RedisClient(SentinelFleet.sentinel(port))
            try await until {
                let state = try await client.send(RedisCommand("SENTINEL", "MASTER", "shop"))
                return state.field("num-slaves") == "1" && state.field("num-other-sentinels") == "2"
            }
            try await until {
                let replicas = try await client.send(RedisCommand("SENTINEL", "REPLICAS", "shop")).elements
                return replicas?.first?.field("master-link-status") == "ok"
            }
        }
    }

    private static func sentinel(_ port: Int) -> RedisServer {
        var sentinel = RedisServer(host: "127.0.0.1", port: port).patient
        sentinel.password = "watch"
        return sentinel
    }

    /// The server as a client describes it.
    var server: RedisServer {
        var server = RedisServer(sentinels: sentinels.map { SentinelFleet.sentinel($0.1) }, primary: "shop").patient
        server.password = "data"
        return server
    }
}

/// A cluster of three primaries on 127.0.0.1.
final class ClusterFleet {
    struct Node {
        let process: RedisProcess
        let port: Int
        let client: RedisClient
        let id: String
    }

    private(set) var nodes: [Node] = []
    private let nodeTimeout: Duration

    /// Starts the nodes, and waits until each can serve all slots.
    ///
    /// - Parameter nodeTimeout: The time without an answer after which the others regard a node as failed. The default is so long that a
    ///   loaded machine causes no failure.
    /// - Throws: An error if a node does not start or join.
    init(nodeTimeout: Duration = .seconds(60)) async throws {
        self.nodeTimeout = nodeTimeout
        for index in 0..<3 {
            try await start()
            let first = index * HashSlot.count / 3
            let last = (index + 1) * HashSlot.count / 3 - 1
            _ = try await nodes[index].client.send(RedisCommand("CLUSTER", "ADDSLOTSRANGE", first, last))
            _ = try await nodes[index].client.send(RedisCommand("CLUSTER", "SET-CONFIG-EPOCH", index + 1))
        }
        try await meet()
    }

    /// A node as the server of a client.
    func server(_ index: Int) -> RedisServer { RedisServer(host: "127.0.0.1", port: nodes[index].port).patient }

    /// Adds a replica of a node, and waits until it is connected.
    func addReplica(of index: Int) async throws {
        try await start()
        try await meet()
        let (primary, replica) = (nodes[index], nodes[nodes.count - 1])
        let command = RedisCommand("CLUSTER", "REPLICATE", primary.id)
        try await until { try await replica.client.send(command).string == "OK" }
        try await until {
            let info = try await replica.client.send(RedisCommand("INFO", "replication")).string ?? ""
            return info.contains("role:slave") && info.contains("master_link_status:up")
        }
        for node in nodes {
            try await until {
                let slots = try await node.client.send(RedisCommand("CLUSTER", "SLOTS")).elements
                return slots?.contains { $0.elements?.count == 4 } == true
            }
        }
    }

    /// Moves a slot with its keys. Calls a closure while the slot is moving, before the keys and after them.
    func move(
        _ slot: HashSlot,
        from: Int,
        to: Int,
        whileMoving: (_ hasMovedKeys: Bool) async throws -> Void
    ) async throws {
        let (source, target) = (nodes[from], nodes[to])
        _ = try await target.client.send(RedisCommand("CLUSTER", "SETSLOT", slot.number, "IMPORTING", source.id))
        _ = try await source.client.send(RedisCommand("CLUSTER", "SETSLOT", slot.number, "MIGRATING", target.id))
        try await whileMoving(false)
        while true {
            let question = RedisCommand("CLUSTER", "GETKEYSINSLOT", slot.number, 3)
            let keys = try await source.client.send(question).elements ?? []
            if keys.isEmpty { break }
            let words: [any RedisArgument] = ["127.0.0.1", target.port, "", 0, 20_000, "KEYS"]
            _ = try await source.client.send(RedisCommand("MIGRATE", arguments: words + keys.compactMap(\.data)))
        }
        try await whileMoving(true)
        for node in [target, source] {
            _ = try await node.client.send(RedisCommand("CLUSTER", "SETSLOT", slot.number, "NODE", target.id))
        }
    }

    private func start() async throws {
        let milliseconds = Int(nodeTimeout / .milliseconds(1))
        let cluster = ["--cluster-enabled", "yes", "--cluster-node-timeout", "\(milliseconds)"]
        let (process, port) = try RedisProcess.onPort("--port", cluster + ["--repl-diskless-sync-delay", "0"])
        // By its socket and without keys, this client never follows a redirection.
        let client = RedisClient(process.server)
        let id = try await client.send(RedisCommand("CLUSTER", "MYID")).string ?? ""
        nodes.append(Node(process: process, port: port, client: client, id: id))
    }

    private func meet() async throws {
        // Each node is told of all others, because they tell each other slowly if their time-out is long.
        for (index, node) in nodes.enumerated() {
            for other in nodes[..<index] {
                _ = try await node.client.send(RedisCommand("CLUSTER", "MEET", "127.0.0.1", other.port))
            }
        }
        let count = nodes.count
        for node in nodes {
            try await until {
                let info = try await node.client.send(RedisCommand("CLUSTER", "INFO")).string ?? ""
                let list = try await node.client.send(RedisCommand("CLUSTER", "NODES")).string ?? ""
                let lines = list.split(separator: "\n")
                return info.contains("cluster_state:ok") && lines.count == count
                    && lines.allSatisfy { $0.contains(" connected") && !$0.contains("handshake") }
            }
        }
    }
}

/// Waits for a state of servers that do not announce it.
func until(_ condition: () async throws -> Bool) async throws {
    let end = ContinuousClock.now + .seconds(90)
    while true {
        if (try? await condition()) == true { return }
        guard ContinuousClock.now < end else { throw RedisProcess.Failure(description: "The state did not come.") }
        // The servers need the processor to get there.
        try await Task.sleep(for: .milliseconds(20))
    }
}

extension RedisValue {
    /// The text of a field in a map, or in an array of names and values.
    fileprivate func field(_ name: String) -> String? {
        if case .map(let entries) = self { return entries.first { $0.key.string == name }?.value.string }
        guard let elements else { return nil }
        return zip(elements, elements.dropFirst()).first { $0.0.string == name }?.1.string
    }
}
#endif
