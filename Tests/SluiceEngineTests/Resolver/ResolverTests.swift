#if os(Linux)
import Glibc
import SluiceHTTP
import SluiceTesting
import Testing

@testable import SluiceEngine

@Suite(.timeLimit(.minutes(10))) struct ResolverTests {
    private let gated = GatedLookUp()
    private let log = AnswerLog()

    private func resolver(
        threads: Int = 2,
        idleTime: Duration = .milliseconds(50),
        now: @escaping @Sendable () -> MonotonicTime = { .now }
    ) -> Resolver {
        Resolver(threads: threads, idleTime: idleTime, lookUp: gated.run, now: now)
    }

    private func request(_ resolver: Resolver, _ host: String, port: UInt16 = 80) throws -> Resolver.Ticket {
        guard case .pending(let ticket) = resolver.resolve(host, port: port, completion: log.completion(host)) else {
            throw Resolver.Failure.notFound
        }
        return ticket
    }

    private func success(_ port: UInt16) -> Resolver.Answer {
        .success([SocketAddress(GatedLookUp.address, port: port)])
    }

    @Test func literalsAndInvalidNamesAreAnsweredAtOnce() throws {
        let resolver = Resolver(lookUp: { _ in
            Issue.record("A lookup was started.")
            return .failure(.notFound)
        })
        let never: @Sendable (Resolver.Answer) -> Void = { _ in Issue.record("The completion was called.") }
        let table: [(String, Resolver.Answer)] = [
            ("127.0.0.1", .success([SocketAddress(address: IPAddress(127, 0, 0, 1), port: 8080)])),
            ("::1", .success([SocketAddress(address: try #require(IPAddress("::1")), port: 8080)])),
            ("fe80::1%7", .success([SocketAddress(address: try #require(IPAddress("fe80::1")), port: 8080, scope: 7)])),
            ("", .failure(.notFound)), ("a\0b", .failure(.notFound)),
            (String(repeating: "a.", count: 200), .failure(.notFound)),
        ]
        for (host, expected) in table {
            guard case .answer(expected) = resolver.resolve(host, port: 8080, completion: never) else {
                Issue.record("\(host) is not answered as expected.")
                continue
            }
        }
    }

    @Test func equalNamesWithDifferentPortsShareALookUp() async throws {
        let clock = Locked(MonotonicTime(nanoseconds: 0))
        let resolver = resolver(now: { clock.withLock { $0 } })
        _ = try request(resolver, "api.example", port: 80)
        _ = try request(resolver, "API.example", port: 443)
        gated.open("api.example")
        var answers = log.answers.makeAsyncIterator()
        #expect(try #require(await answers.next()) == ("api.example", success(80)))
        #expect(try #require(await answers.next()) == ("API.example", success(443)))
        guard case .answer(success(81)) = resolver.resolve("api.example", port: 81, completion: { _ in }) else {
            Issue.record("The answer is not cached.")
            return
        }
        resolver.forget("Api.Example")
        _ = try request(resolver, "api.example")
        gated.open("api.example")
        #expect(try #require(await answers.next()).1 == success(80))
        clock.withLock { $0 = MonotonicTime(nanoseconds: 60_000_000_000) }
        _ = try request(resolver, "api.example")
        gated.open("api.example")
        #expect(try #require(await answers.next()).1 == success(80))
        #expect(gated.begun == ["api.example", "api.example", "api.example"])
    }

    @Test func hangingLookUpDelaysNoOtherName() async throws {
        let resolver = resolver()
        _ = try request(resolver, "stuck")
        var answers = log.answers.makeAsyncIterator()
        for name in ["a", "b", "c"] {
            gated.open(name)
            _ = try request(resolver, name)
            #expect(try #require(await answers.next()) == (name, success(80)))
        }
        #expect(gated.peak <= 2)
        gated.open("stuck")
        #expect(try #require(await answers.next()).0 == "stuck")
    }

    @Test func namesWaitWhileAllThreadsAreBusy() async throws {
        let resolver = resolver()
        for name in ["a", "b", "c", "d"] { _ = try request(resolver, name) }
        gated.open("c", "d", "b", "a")
        var answers = log.answers.makeAsyncIterator()
        for _ in 0..<4 { #expect(try #require(await answers.next()).1 == success(80)) }
        #expect(Set(gated.begun) == ["a", "b", "c", "d"])
        #expect(gated.peak <= 2)
    }

    @Test func abandonedLookUpsDelayOthersAtTwiceTheLimit() async throws {
        let resolver = resolver()
        let log = log
        var beginnings = gated.beginnings.makeAsyncIterator()
        for name in ["dead1", "dead2"] {
            let ticket = try request(resolver, name)
            #expect(await beginnings.next() == name)
            #expect(resolver.cancel(ticket))
            #expect(!resolver.cancel(ticket))
        }
        var answers = log.answers.makeAsyncIterator()
        for name in ["a", "b"] {
            gated.open(name)
            _ = try request(resolver, name)
            #expect(try #require(await answers.next()).0 == name)
            #expect(await beginnings.next() == name)
        }
        // Two more abandoned look-ups occupy all allowed threads.
        for name in ["dead3", "dead4"] {
            let ticket = try request(resolver, name)
            #expect(await beginnings.next() == name)
            resolver.cancel(ticket)
        }
        _ = try request(resolver, "waits")
        gated.open("waits", "dead1")
        #expect(try #require(await answers.next()).0 == "waits")
        #expect(gated.peak == 4)
        // The late answer was cached, and no completion was called.
        guard case .answer(success(80)) = resolver.resolve("dead1", port: 80, completion: { _ in }) else {
            Issue.record("The late answer is not cached.")
            return
        }
        gated.open("dead2", "dead3", "dead4")
    }

    @Test func idleThreadsEnd() async throws {
        let (ends, end) = AsyncStream<Void>.makeStream()
        let resolver = Resolver(
            idleTime: .milliseconds(1),
            lookUp: gated.run,
            startThread: { run in
                DetachedThread.start("sluice-dns") {
                    run()
                    end.yield()
                }
            }
        )
        var answers = log.answers.makeAsyncIterator()
        var ended = ends.makeAsyncIterator()
        for name in ["a", "b"] {
            gated.open(name)
            _ = try request(resolver, name)
            #expect(try #require(await answers.next()).0 == name)
            await ended.next()
        }
    }

    @Test func lookUpWithoutAThreadFailsAtOnce() throws {
        let resolver = Resolver(lookUp: gated.run, startThread: { _ in false })
        for _ in 0..<3 {
            guard case .answer(.failure(.noThread)) = resolver.resolve("a", port: 80, completion: { _ in }) else {
                Issue.record("Expected a failure.")
                return
            }
        }
    }

    /// A second caller joins the look-up while its thread is being started. Starting the thread then fails.
    @Test func joinedCallersFailIfTheThreadCannotStart() async throws {
        let joined = Locked<Resolver?>(nil)
        let log = log
        let resolver = Resolver(
            lookUp: gated.run,
            startThread: { _ in
                let resolver = joined.withLock { $0.take() }
                guard case .pending? = resolver?.resolve("a", port: 80, completion: log.completion("joined")) else {
                    Issue.record("The second caller does not wait.")
                    return false
                }
                return false
            }
        )
        joined.withLock { $0 = resolver }
        guard case .answer(.failure(.noThread)) = resolver.resolve("a", port: 80, completion: log.completion("first"))
        else {
            Issue.record("The first caller is not answered at once.")
            return
        }
        var answers = log.answers.makeAsyncIterator()
        #expect(try #require(await answers.next()) == ("joined", .failure(.noThread)))
    }

    @Test func threadsAreNamedAndBlockSignals() async throws {
        let (names, name) = AsyncStream<String>.makeStream()
        let (masks, mask) = AsyncStream<[Bool]>.makeStream()
        #expect(
            DetachedThread.start("sluice-dns") {
                var buffer = [UInt8](repeating: 0, count: 32)
                let file = open("/proc/thread-self/comm", O_RDONLY)
                let count = read(file, &buffer, buffer.count)
                close(file)
                name.yield(String(decoding: buffer.prefix(max(0, count)), as: UTF8.self))
                var blocked = sigset_t()
                pthread_sigmask(SIG_BLOCK, nil, &blocked)
                mask.yield([SIGTERM, SIGINT, SIGCHLD, SIGUSR1, SIGSEGV].map { sigismember(&blocked, $0) == 1 })
            }
        )
        var namesIterator = names.makeAsyncIterator()
        var masksIterator = masks.makeAsyncIterator()
        #expect(await namesIterator.next() == "sluice-dns\n")
        #expect(await masksIterator.next() == [true, true, true, true, false])
    }

    @Test func hangingLookUpDoesNotBlockProcessExit() async {
        await #expect(processExitsWith: .exitCode(7)) {
            let begun = AsyncStream<Void>.makeStream()
            let resolver = Resolver(lookUp: { _ in
                begun.continuation.yield()
                while true { pause() }
            })
            _ = resolver.resolve("stuck", port: 80, completion: { _ in })
            var beginnings = begun.stream.makeAsyncIterator()
            await beginnings.next()
            exit(7)
        }
    }

    /// Each request is answered exactly once, or its cancellation is confirmed exactly once, in every interleaving.
    @Test func everyRequestIsAnsweredOrCancelledOnce() async throws {
        let resolver = Resolver(
            threads: 3,
            lifetime: .zero,
            idleTime: .microseconds(1),
            lookUp: { _ in .success([GatedLookUp.address]) }
        )
        await withTaskGroup(of: Void.self) { group in
            for task in 0..<4 as Range<UInt64> {
                group.addTask {
                    var random = SeededGenerator(seed: task)
                    for _ in 0..<100 {
                        let (answers, answer) = AsyncStream<Resolver.Answer>.makeStream()
                        let name = "host\(Int.random(in: 0..<6, using: &random))"
                        let resolution = resolver.resolve(name, port: 80) { result in
                            guard case .enqueued = answer.yield(result) else {
                                Issue.record("A cancelled lookup was answered.")
                                return
                            }
                        }
                        guard case .pending(let ticket) = resolution else {
                            Issue.record("Expected a pending lookup, since nothing is cached.")
                            continue
                        }
                        if Int.random(in: 0..<3, using: &random) == 0, resolver.cancel(ticket) {
                            answer.finish()
                        } else {
                            var iterator = answers.makeAsyncIterator()
                            #expect(await iterator.next() != nil)
                            #expect(!resolver.cancel(ticket))
                        }
                    }
                }
            }
        }
    }
}
#endif
