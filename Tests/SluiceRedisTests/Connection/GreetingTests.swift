#if os(Linux)
import SluiceHTTP
import SluiceRedis
import Testing

struct GreetingTests {
    /// Runs the greeting of a server against replies, and returns the words that are sent, and the end.
    private func run(_ server: RedisServer, _ replies: RedisValue...) -> (sent: [String], end: String) {
        var greeting = Greeting(server)
        var sent = greeting.begin().map(\.text)
        for reply in replies {
            switch greeting.received(reply) {
            case .wait: continue
            case .send(let commands): sent += commands.map(\.text)
            case .done: return (sent, "done")
            case .failed(let error): return (sent, error.code.description)
            }
        }
        return (sent, "waits")
    }

    private static let unknown = RedisValue.error(
        RedisReplyError("ERR unknown command `HELLO`, with args beginning with: `3`, ")
    )

    @Test func choosesTheVersionUserNameAndDatabase() {
        var server = RedisServer(host: "h")
        (server.user, server.password, server.database) = ("shop", "pw", 3)
        let (sent, end) = run(server, .map([]), .text("OK"), .text("OK"), .text("PONG"))
        #expect(sent == ["HELLO 3 AUTH shop pw", "CLIENT SETNAME sluice", "SELECT 3", "PING"])
        #expect(end == "done")
    }

    @Test func passwordWithoutUserIsThatOfTheDefaultUser() {
        var server = RedisServer()
        server.password = "pw"
        #expect(run(server).sent == ["HELLO 3 AUTH default pw"])
    }

    @Test func olderServersAreGreetedInVersion2() {
        var server = RedisServer()
        (server.password, server.clientName) = ("pw", nil)
        let (sent, end) = run(server, Self.unknown, .text("OK"), .text("PONG"))
        #expect(sent == ["HELLO 3 AUTH default pw", "AUTH pw", "PING"])
        #expect(end == "done")
        #expect(run(RedisServer(), .error(RedisReplyError("NOPROTO unsupported version"))).end == "waits")
    }

    private static let primary = RedisServer(sentinels: [RedisServer(port: 26_379)], primary: "shop")

    private static func hello(role: String) -> RedisValue {
        .map([.init(key: .text("proto"), value: .integer(3)), .init(key: .text("role"), value: .text(role))])
    }

    @Test func serverThatSentinelsNameMustBeAPrimary() {
        let (sent, end) = run(Self.primary, Self.hello(role: "master"), .text("OK"), .text("PONG"))
        #expect(sent == ["HELLO 3", "CLIENT SETNAME sluice", "PING"])
        #expect(end == "done")
        #expect(run(Self.primary, Self.hello(role: "replica")).end == "readOnly")
        #expect(run(RedisServer(), Self.hello(role: "replica"), .text("OK"), .text("PONG")).end == "done")
    }

    @Test func roleIsAskedForIfTheGreetingDoesNotTellIt() {
        let role = RedisValue.array([.text("master"), .integer(0), .array([])])
        let primary = run(Self.primary, Self.unknown, .text("OK"), role, .text("PONG"))
        #expect(primary.sent == ["HELLO 3", "CLIENT SETNAME sluice", "ROLE", "PING"])
        #expect(primary.end == "done")
        let replica = RedisValue.array([.text("slave"), .text("10.0.0.1"), .integer(6379)])
        #expect(run(Self.primary, Self.unknown, .text("OK"), replica).end == "readOnly")
        let denied = RedisValue.error(RedisReplyError("NOPERM no role"))
        #expect(run(Self.primary, Self.unknown, .text("OK"), denied).end == "unauthorized")
    }

    @Test(arguments: [
        ([RedisValue.error(RedisReplyError("WRONGPASS invalid"))], "unauthorized"),
        ([.error(RedisReplyError("NOAUTH HELLO must be called"))], "unauthorized"),
        ([.error(RedisReplyError("ERR max number of clients reached"))], "refused"),
        ([.text("OK")], "invalidReply"),
        ([.map([]), .text("OK"), .error(RedisReplyError("LOADING Redis is loading"))], "loading"),
        ([.map([]), .error(RedisReplyError("NOPERM no client")), .text("PONG")], "done"),
        ([.map([]), .text("OK"), .error(RedisReplyError("NOPERM no ping"))], "done"),
        ([.map([]), .text("OK"), .integer(1)], "invalidReply"),
    ])
    func repliesDecide(replies: [RedisValue], end: String) {
        var greeting = Greeting(RedisServer())
        _ = greeting.begin()
        var last = ""
        for reply in replies {
            switch greeting.received(reply) {
            case .done: last = "done"
            case .failed(let error): last = error.code.description
            case .send, .wait: last = "waits"
            }
        }
        #expect(last == end)
    }
}

extension RedisCommand {
    fileprivate var text: String { words.map { String(decoding: $0, as: UTF8.self) }.joined(separator: " ") }
}
#endif
