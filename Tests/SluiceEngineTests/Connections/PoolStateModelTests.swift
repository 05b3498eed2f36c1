#if os(Linux)
import SluiceHTTP
import Testing

@testable import SluiceEngine

/// Random interleavings of requests, dials, failures, cancellations and time. Every request ends exactly once, no connection
/// carries two requests, and no slot is lost.
@Suite struct PoolStateModelTests {
    typealias State = PoolState<PoolItem, PoolItem, PoolItem>

    private struct Model {
        var state = State(limit: 6, limitPerHost: 3, maximumWaiting: 8)
        var random: Seeded
        var now: Int64 = 0
        var open: [ObjectIdentifier: (call: PoolItem, group: State.GroupID)] = [:]
        var running: [ObjectIdentifier: (call: PoolItem, connection: PoolItem)] = [:]
        var toDial: [(call: PoolItem, group: State.GroupID)] = []
        /// The origins of requests, dials and connections.
        var origins: [String: HTTPOrigin] = [:]
        var dials: [PoolItem] = []
        var cancelled: Set<ObjectIdentifier> = []
        var last = 0

        var time: MonotonicTime { MonotonicTime(nanoseconds: now) }

        mutating func item(_ kind: String) -> PoolItem {
            last += 1
            return PoolItem("\(kind) \(last)")
        }

        mutating func perform(_ actions: [State.Action]) {
            for action in actions {
                switch action {
                case .start(let call, let connection): start(call, connection)
                case .dial(let call, let group): toDial.append((call, group))
                case .cancel(let dial): dials.removeAll { $0 === dial }
                case .discard: Issue.record("A connection was discarded although the pool keeps idle connections.")
                case .fail(let call, _): end(call)
                }
            }
        }

        mutating func start(_ call: PoolItem, _ connection: PoolItem) {
            #expect(open[ObjectIdentifier(call)] != nil, "\(call) was started after its end.")
            #expect(running[ObjectIdentifier(call)] == nil, "\(call) was started twice.")
            #expect(!running.values.contains { $0.connection === connection }, "\(connection) carries two requests.")
            #expect(
                origins[call.description] == origins[connection.description],
                "\(call) uses a connection to another origin."
            )
            running[ObjectIdentifier(call)] = (call, connection)
        }

        mutating func end(_ call: PoolItem) {
            #expect(open.removeValue(forKey: ObjectIdentifier(call)) != nil, "\(call) ended twice.")
        }

        mutating func step() {
            switch Int.random(in: 0..<10, using: &random) {
            case 0...2: request()
            case 3: startDial()
            case 4: connectDial()
            case 5: failDial()
            case 6, 7: finish()
            case 8: cancel()
            default:
                now += 1
                perform(state.expire(at: time))
            }
            #expect(state.active <= 6)
        }

        private mutating func request() {
            let call = item("call")
            let origin = HTTPOrigin(scheme: "http", authority: ["a", "b", "c"].randomElement(using: &random) ?? "a")
            let (group, acquisition) = state.acquire(
                call,
                to: origin,
                by: .standard,
                priority: RequestPriority.allCases.randomElement(using: &random) ?? .normal,
                total: Bool.random(using: &random) ? .distantFuture : MonotonicTime(nanoseconds: now + 5),
                connectTimeout: Bool.random(using: &random) ? nil : .nanoseconds(3),
                at: time
            )
            if case .refused = acquisition { return }
            origins[call.description] = origin
            open[ObjectIdentifier(call)] = (call, group)
            switch acquisition {
            case .connection(let connection): start(call, connection)
            case .dial: toDial.append((call, group))
            case .waiting, .refused: break
            }
        }

        private mutating func startDial() {
            guard !toDial.isEmpty else { return }
            // The call may have ended meanwhile, as it may while another thread is about to dial for it.
            let (call, group) = toDial.removeFirst()
            let dial = item("dial")
            origins[dial.description] = origins[call.description]
            if state.dialStarted(dial, for: call, in: group) { dials.append(dial) }
        }

        private mutating func connectDial() {
            guard let index = dials.indices.randomElement(using: &random) else { return }
            let (dial, connection) = (dials.remove(at: index), item("connection"))
            origins[connection.description] = origins[dial.description]
            let (isWanted, actions) = state.dialSucceeded(dial, connection, at: time)
            #expect(isWanted)
            perform(actions)
        }

        private mutating func failDial() {
            guard let index = dials.indices.randomElement(using: &random) else { return }
            perform(state.dialFailed(dials.remove(at: index), with: SluiceError(.cannotConnect, ""), at: time))
        }

        private mutating func finish() {
            guard let (id, (call, connection)) = running.randomElement(using: &random), let group = open[id]?.group
            else { return }
            running[id] = nil
            if Int.random(in: 0..<4, using: &random) == 0 {
                // The connection failed without a response, and the request is sent again.
                let fresh = Bool.random(using: &random)
                let again = state.reacquire(
                    call,
                    in: group,
                    fresh: fresh,
                    total: .distantFuture,
                    connectTimeout: nil,
                    at: time
                )
                switch again {
                case .connection(let other): start(call, other)
                case .dial: toDial.append((call, group))
                case .waiting, .refused: break
                }
                return
            }
            end(call)
            perform(state.release(Bool.random(using: &random) ? connection : nil, of: group, at: time))
        }

        private mutating func cancel() {
            guard let (id, (call, _)) = open.randomElement(using: &random), running[id] == nil else { return }
            guard let actions = state.remove(call, at: time) else {
                Issue.record("\(call) is neither waiting nor running.")
                return
            }
            end(call)
            perform(actions)
        }

        /// Completes all pending work. Nothing may be left.
        mutating func drain() {
            for _ in 0..<10_000 where !open.isEmpty {
                startDial()
                connectDial()
                finish()
            }
            #expect(open.isEmpty, "Requests were never served: \(open.values.map(\.call)).")
            #expect(state.active == 0)
            #expect(state.waiting == 0)
            while !toDial.isEmpty { startDial() }
            for dial in dials { perform(state.dialFailed(dial, with: SluiceError(.cannotConnect, ""), at: time)) }
            expect(state.dialCount, 0)
            #expect(state.nextDeadline == .distantFuture)
            _ = state.removeAllIdle()
            #expect(state.idleCount == 0)
        }
    }

    @Test(arguments: 0..<200) func everyRequestEndsOnceAndEverySlotIsReleased(_ seed: UInt64) {
        var model = Model(random: Seeded(seed))
        for _ in 0..<300 { model.step() }
        model.drain()
    }
}
#endif
