#if os(Linux)
import SluiceHTTP

/// The commands at the start of a connection: the version of the protocol, credentials, name and database.
///
///     HELLO 3 AUTH ─┬─ map ────────────────────────▶ CLIENT SETNAME, SELECT, PING ──▶ done
///                   └─ unknown (before Redis 6) ──▶ AUTH, CLIENT SETNAME, SELECT, PING ──▶ done
///
/// The PING shows a server that is loading its data, or that requires credentials.
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

    /// Handles a reply.
    package mutating func received(_ reply: RedisValue) -> Step {
        guard !awaited.isEmpty else { return .failed(.strayReply) }
        let command = awaited.removeFirst()
        switch (command.name, reply) {
        case ("HELLO", .map): return next(hasAuthenticated: true)
        case ("HELLO", .error(let error)):
            let isUnknown = error.prefix == "ERR" && error.message.contains("unknown command")
            return isUnknown || error.prefix == "NOPROTO" ? next(hasAuthenticated: false) : .failed(RedisError(error))
        case ("CLIENT", _): return .wait
        case ("PING", .error(let error)) where error.prefix == "NOPERM": return .done
        case (_, .error(let error)): return .failed(RedisError(error))
        case ("PING", .bytes): return .done
        case ("AUTH", .bytes), ("SELECT", .bytes): return .wait
        default: return .failed(RedisError(.invalidReply, "The server did not answer \(command.name) as Redis does."))
        }
    }

    private mutating func next(hasAuthenticated: Bool) -> Step {
        if !hasAuthenticated, let password = server.password {
            let credentials: [any RedisArgument] = server.user.map { [$0, password] } ?? [password]
            awaited.append(RedisCommand("AUTH", arguments: credentials))
        }
        if let name = server.clientName { awaited.append(RedisCommand("CLIENT", "SETNAME", name)) }
        if server.database != 0 { awaited.append(RedisCommand("SELECT", server.database)) }
        awaited.append(RedisCommand("PING"))
        return .send(awaited)
    }
}

extension RedisError {
    static let strayReply = RedisError(.invalidReply, "The server sent a reply without a command.")
}
#endif
