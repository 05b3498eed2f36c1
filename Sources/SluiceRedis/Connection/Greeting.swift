import SluiceFoundation
import SluiceHTTP

#if os(Linux)
/// The commands at the start of a connection: the version of the protocol, credentials, name and database.
///
///     HELLO 3 AUTH ─┬─ map ────────────────────────▶ CLIENT SETNAME, SELECT, PING ──▶ done
///                   └─ unknown (before Redis 6) ──▶ AUTH, CLIENT SETNAME, SELECT, PING ──▶ done
///
/// The PING shows a server that is loading its data, or that requires credentials. A server that sentinels have named must be a primary:
/// its role is part of the reply to HELLO, or else that to ROLE.
package struct Greeting: Sendable {
    package enum Step: Sendable {
        case wait
        case send([RedisCommand])
        case done
        case failed(RedisError)
    }

    private let server: RedisServer
    /// The commands whose replies are awaited.
    private var awaited: [RedisCommand] = []

    package init(_ server: RedisServer) {
        self.server = server
    }

    /// Returns the first command.
    package mutating func begin() -> [RedisCommand] {
        var arguments: [any RedisArgument] = [3]
        if let password = server.password { arguments += ["AUTH", server.user ?? "default", password] }
        awaited = [RedisCommand("HELLO", arguments: arguments)]
        return awaited
    }

    package mutating func received(_ reply: RedisValue) -> Step {
        guard !awaited.isEmpty else { return .failed(.strayReply) }
        let command = awaited.removeFirst()
        switch (command.name, reply) {
        case ("HELLO", .map(let entries)):
            let role = entries.first { $0.key.word == "role" }?.value.word
            if let role, mustBePrimary, role != "master" { return .failed(.replica) }
            return next(hasAuthenticated: true, knowsRole: role != nil)
        case ("HELLO", .error(let error)):
            let isUnknown = error.prefix == "ERR" && error.message.contains("unknown command")
            guard isUnknown || error.prefix == "NOPROTO" else { return .failed(RedisError(error)) }
            return next(hasAuthenticated: false, knowsRole: false)
        case ("CLIENT", _): return .wait
        case ("PING", .error(let error)) where error.prefix == "NOPERM": return .done
        case (_, .error(let error)): return .failed(RedisError(error))
        case ("PING", .bytes): return .done
        case ("AUTH", .bytes), ("SELECT", .bytes): return .wait
        case ("ROLE", .array(let words)): return words.first?.word == "master" ? .wait : .failed(.replica)
        default: return .failed(RedisError(.invalidReply, "The server did not answer \(command.name) as Redis does."))
        }
    }

    private var mustBePrimary: Bool {
        if case .primary = server.address { true } else { false }
    }

    private mutating func next(hasAuthenticated: Bool, knowsRole: Bool) -> Step {
        if !hasAuthenticated, let password = server.password {
            let credentials: [any RedisArgument] = server.user.map { [$0, password] } ?? [password]
            awaited.append(RedisCommand("AUTH", arguments: credentials))
        }
        if let name = server.clientName { awaited.append(RedisCommand("CLIENT", "SETNAME", name)) }
        if server.database != 0 { awaited.append(RedisCommand("SELECT", server.database)) }
        if mustBePrimary, !knowsRole { awaited.append(RedisCommand("ROLE")) }
        awaited.append(RedisCommand("PING"))
        return .send(awaited)
    }
}

extension RedisError {
    static let replica = RedisError(.readOnly, "The server that the sentinels have named is not the primary.")
    static let strayReply = RedisError(.invalidReply, "The server sent a reply without a command.")
}
#endif

// MARK: - Eviction policy

/// The treatment of a full memory by a server, as `INFO memory` tells it.
package struct EvictionPolicy: Sendable, Hashable {
    /// The limit of the memory in bytes; 0 for none.
    package var limit = 0
    /// The name of the policy, such as `allkeys-lru`.
    package var name = "noeviction"

    /// Parses the reply to `INFO memory`.
    package init(info: String) {
        for line in info.split(whereSeparator: \.isNewline) {
            guard let colon = line.firstIndex(of: ":") else { continue }
            let value = line[line.index(after: colon)...]
            switch line[..<colon] {
            case "maxmemory": limit = Int(value) ?? 0
            case "maxmemory_policy": name = String(value)
            default: continue
            }
        }
    }

    /// True if writes fail once the memory is full.
    package var refusesWrites: Bool { limit > 0 && name == "noeviction" }
}
