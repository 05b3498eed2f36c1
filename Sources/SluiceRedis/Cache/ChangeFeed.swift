#if os(Linux)
import SluiceCache
import SluiceFoundation
import SluiceHTTP
import Synchronization

/// The changes of all processes that share a cache, as a stream on the server.
///
/// A task reads the stream with a connection of its own, on which each read waits for the next message. The messages are numbered. After a
/// gap, a lost connection or a restart of the server, everything that other processes may have changed is forgotten.
final class ChangeFeed: Sendable {
    private struct State {
        var generations = GenerationTable()
        /// True while all messages have been read, so that the generations are those of the server.
        var isCurrent = false
        /// The number of times that everything was forgotten. A reply to an earlier question is not recorded.
        var epoch = 0
        var time: ServerTime?
        var subscriber: AsyncStream<CacheInvalidation>.Continuation?
        /// The callers that wait for the release of a lease, by its name.
        var waiters: [String: [Waiter<Bool>]] = [:]
        var warnings = FeedWarnings()
        var task: Task<Void, Never>?
        var isClosed = false

        /// Removes a caller that waits for the release of a lease. Returns nil if it does not wait any more.
        mutating func removeWaiter(_ id: Int, for name: String) -> Waiter<Bool>? {
            guard let index = waiters[name]?.firstIndex(where: { $0.id == id }) else { return nil }
            let waiter = waiters[name]?.remove(at: index)
            if waiters[name]?.isEmpty == true { waiters[name] = nil }
            return waiter
        }
    }

    /// The maximum number of messages in the stream, approximately.
    private static let length = 8192
    /// The maximum number of messages that one reply contains.
    private static let batch = 512
    /// The time that a read waits for a message.
    private static let patience = Duration.milliseconds(500)
    /// The time by which a server may end such a wait too late. Redis 5 looks for waits that are over once a second, as do later versions
    /// with the lowest `hz`.
    private static let lateness = Duration.milliseconds(1_250)

    private let redis: RedisClient
    private let seal: RedisSeal
    private let clock: any SluiceClock
    private let onWarning: @Sendable (String) -> Void
    private let stream: String
    private let counter: String
    /// The name of this process among the senders.
    let sender: String
    /// The number of changes of this process.
    private let changes = Atomic(0)
    private let state = Locked(State())

    init(
        _ redis: RedisClient,
        _ seal: RedisSeal,
        prefix: String,
        clock: any SluiceClock,
        onWarning: @escaping @Sendable (String) -> Void
    ) {
        self.redis = redis
        self.seal = seal
        self.clock = clock
        self.onWarning = onWarning
        stream = "\(prefix):{feed}"
        counter = "\(prefix):{feed}:n"
        sender = HexText.text(length: 16) { $0.append(UInt64.random(in: .min ... .max), digits: 16) }
    }

    // MARK: Reading

    /// Begins to follow the changes, at the first call.
    func subscribe() -> AsyncStream<CacheInvalidation> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: CacheInvalidation.self,
            bufferingPolicy: .bufferingNewest(Self.bufferSize)
        )
        let (previous, isOver) = state.withLock { state in
            let previous = state.subscriber
            state.subscriber = continuation
            return (previous, state.isClosed)
        }
        // Outside the lock, because a task that is being cancelled may wait for it under a lock that its resumption needs.
        previous?.finish()
        if isOver { continuation.finish() }
        begin()
        return stream
    }

    /// Starts the task that reads the stream, unless it runs.
    func begin() {
        state.withLock { state in
            guard state.task == nil, !state.isClosed else { return }
            state.task = Task.detached { [weak self, clock] in
                var position: Position?
                var failures = 0
                while !Task.isCancelled {
                    guard let next = await self?.read(after: position) else { return }
                    switch next {
                    case .failed:
                        position = nil
                        // Each attempt opens a connection, and forgets what is in memory if it finds the end of the stream.
                        let pause = Duration.milliseconds(50) * (1 << min(failures, 5))
                        failures += 1
                        do { try await clock.sleep(for: pause) } catch { return }
                    case .read(let read):
                        if position != nil { failures = 0 }
                        position = read
                    }
                }
            }
        }
    }

    /// Ends the task.
    func close() {
        let (task, subscriber, waiters) = state.withLock { state in
            defer {
                state.isClosed = true
                state.task = nil
                state.subscriber = nil
                state.waiters = [:]
            }
            return (state.task, state.subscriber, state.waiters)
        }
        task?.cancel()
        subscriber?.finish()
        for waiter in waiters.values.joined() { waiter.resume(returning: false) }
    }

    /// The last message that has been read.
    private struct Position: Sendable {
        var id: String
        /// Its number, or that of the one before it; nil if there is none.
        var number: Int?
    }

    private enum Step: Sendable {
        case read(Position)
        case failed
    }

    /// Reads the messages after a position, or finds the position to begin with.
    private func read(after position: Position?) async -> Step {
        do throws(RedisError) {
            guard var position else { return .read(try await firstPosition()) }
            let milliseconds = Int(Self.patience / .milliseconds(1))
            let command = RedisCommand(
                "XREAD",
                "COUNT",
                Self.batch,
                "BLOCK",
                milliseconds,
                "STREAMS",
                stream,
                position.id
            )
            let reply = try await redis.sendBlocking(command, timeout: Self.readTimeout(redis.server.commandTimeout))
            guard let messages = Self.messages(in: reply) else { throw .unexpectedReply }
            for message in messages {
                if let contents = message.contents {
                    if let last = position.number, contents.number != last &+ 1 { lose() }
                    position = Position(id: message.id, number: contents.number)
                    receive(contents)
                } else {
                    // The message of a process that was damaged, or forged.
                    lose()
                    position.id = message.id
                }
            }
            // Without it, callers ask for the time themselves once it is too old.
            _ = try? await updateTime()
            return .read(position)
        } catch {
            let warning = state.withLock { state in
                state.isCurrent = false
                return state.warnings.text(for: error)
            }
            if let warning { onWarning(warning) }
            return .failed
        }
    }

    /// Returns the time for a read of the stream.
    ///
    /// - Parameter commandTimeout: The time for a command that does not wait.
    /// - Returns: The time, after which the connection is lost.
    static func readTimeout(_ commandTimeout: Duration) -> Duration { patience + lateness + commandTimeout.bounded }

    /// Finds the end of the stream. From here on no message is missed; those before have been missed.
    private func firstPosition() async throws(RedisError) -> Position {
        let command = RedisCommand("XREVRANGE", stream, "+", "-", "COUNT", 1)
        guard let last = try await redis.send(command).elements else { throw .unexpectedReply }
        state.withLock { $0.time = nil }
        try await updateTime()
        lose()
        state.withLock { $0.isCurrent = true }
        guard let message = last.first.flatMap(Message.init) else { return Position(id: "0-0", number: nil) }
        return Position(id: message.id, number: message.contents?.number)
    }

    /// Numbers a change, by which the server knows a late one.
    func nextChange() -> Int { changes.wrappingAdd(1, ordering: .relaxed).newValue }

    /// Lets this process drop entries that the server has refused to store.
    func drop(_ selection: CacheSelection) { Self.tell(state.withLock { $0.subscriber }, .removed(selection)) }

    /// The number of changes that wait for the cache. If it cannot keep up, it drops everything in memory instead.
    private static let bufferSize = 4096

    private static func tell(
        _ subscriber: AsyncStream<CacheInvalidation>.Continuation?,
        _ invalidation: CacheInvalidation
    ) {
        if case .dropped = subscriber?.yield(invalidation) { subscriber?.yield(.everything) }
    }

    /// Forgets everything that other processes may have changed.
    private func lose() {
        let subscriber = state.withLock { state in
            state.generations.forgetAll()
            state.epoch += 1
            return state.subscriber
        }
        Self.tell(subscriber, .everything)
    }

    private func receive(_ contents: Message.Contents) {
        guard contents.sender != sender,
            // A message that does not open is one of another fleet, or forged.
            let bytes = try? seal.open(contents.bytes, as: stream), let change = ChangeMessage(bytes)
        else { return }
        switch change {
        case .stored(let key): Self.tell(state.withLock { $0.subscriber }, .stored(key))
        case .removed(let selection, let generations):
            let subscriber = state.withLock { state in
                for generation in generations { state.generations.record(generation.generation, of: generation.name) }
                return state.subscriber
            }
            Self.tell(subscriber, .removed(selection))
        case .released(let name): wake(name)
        }
    }

    /// An element of the stream.
    private struct Message {
        struct Contents {
            let number: Int
            let sender: String
            let bytes: Data

            init?(_ fields: [RedisValue]) {
                var (number, sender, bytes): (Int?, String?, Data?)
                for index in stride(from: 0, to: fields.count - 1, by: 2) {
                    switch fields[index].word {
                    case "n": number = fields[index + 1].int
                    case "s": sender = fields[index + 1].word
                    case "m": bytes = fields[index + 1].data
                    default: break
                    }
                }
                guard let number, let sender, let bytes else { return nil }
                (self.number, self.sender, self.bytes) = (number, sender, bytes)
            }
        }

        let id: String
        /// Nil for an element of another form. Anybody who may write to the server can add one.
        let contents: Contents?

        init?(_ value: RedisValue) {
            guard let parts = value.elements, parts.count == 2, let id = parts[0].word else { return nil }
            self.id = id
            contents = parts[1].elements.flatMap { Contents($0) }
        }
    }

    /// Returns the messages in a reply to `XREAD` of either version of RESP; nil for another reply.
    private static func messages(in reply: RedisValue) -> [Message]? {
        let messages: [RedisValue]?
        switch reply {
        case .null: return []
        case .map(let entries): messages = entries.first?.value.elements
        case .array(let streams): messages = streams.first?.elements.flatMap { $0.count == 2 ? $0[1].elements : nil }
        default: messages = nil
        }
        guard let messages else { return nil }
        let parsed = messages.compactMap(Message.init)
        return parsed.count == messages.count ? parsed : nil
    }

    // MARK: Time

    /// Returns the seconds by which the server's clock is ahead of this machine's.
    func clockOffset() async throws(RedisError) -> Double { try await updateTime().offset(on: clock) }

    /// The seconds of ``clockOffset()``, if the server need not be asked.
    var knownClockOffset: Double? { knownTime?.offset(on: clock) }

    private var knownTime: ServerTime? {
        state.withLock { $0.time }.flatMap { $0.isRecent(at: clock.now) ? $0 : nil }
    }

    /// Returns the known time of the server, or asks for it.
    @discardableResult
    private func updateTime() async throws(RedisError) -> ServerTime {
        if let time = knownTime { return time }
        let sent = clock.now
        let reply = try await redis.send(RedisCommand("TIME", isIdempotent: true))
        guard let time = ServerTime(reply, sent: sent, received: clock.now) else { throw .unexpectedReply }
        state.withLock { $0.time = time }
        return time
    }

    // MARK: Generations

    /// True if the generations with these names are known without asking the server, and are these.
    func isKnown(_ generations: [CacheGeneration], of names: [String]) -> Bool {
        state.withLock { state in
            state.isCurrent && zip(names, generations).allSatisfy { state.generations[$0] == $1 }
        }
    }

    /// Returns the generations with these names; nil for those that the server does not have.
    ///
    /// - Parameters:
    ///   - names: The names.
    ///   - areRead: True to read them from the server, also if the news of all changes has been read.
    /// - Returns: The generations, in the order of the names.
    /// - Throws: The error of the server.
    func generations(_ names: [String], areRead: Bool = false) async throws(RedisError) -> [CacheGeneration?] {
        let (known, epoch): ([CacheGeneration?], Int) = state.withLock { state in
            (names.map { state.isCurrent && !areRead ? state.generations[$0] : nil }, state.epoch)
        }
        if known.allSatisfy({ $0 != nil }) { return known }
        var generations = known
        for (index, name) in names.enumerated() where known[index] == nil {
            let reply = try await redis.send(RedisCommand("GET", name, isIdempotent: true))
            generations[index] = record(reply, of: name, in: epoch)
        }
        return generations
    }

    /// Returns the generation with a name, which begins now if the server does not have it.
    func currentGeneration(_ name: String) async throws(RedisError) -> CacheGeneration {
        let (known, epoch) = state.withLock { state in (state.isCurrent ? state.generations[name] : nil, state.epoch) }
        if let known { return known }
        let reply = try await redis.run(CacheScripts.generation, keys: [name])
        guard let generation = record(reply, of: name, in: epoch) else { throw .unexpectedReply }
        return generation
    }

    /// Begins a new generation because of a removal.
    func beginGeneration(_ name: String) async throws(RedisError) -> CacheGeneration {
        let reply = try await redis.run(CacheScripts.removal, keys: [name])
        guard let generation = record(reply, of: name, in: nil, isOwn: true) else { throw .unexpectedReply }
        return generation
    }

    /// True if another process has begun a generation with a removal after a response was requested.
    func isOutdated(_ generation: CacheGeneration, of name: String, since time: Double) -> Bool {
        generation.isRemoval(since: time) && !state.withLock { $0.generations.isOwn(generation, of: name) }
    }

    /// Records a generation, unless everything was forgotten since the question of an epoch.
    private func record(_ reply: RedisValue, of name: String, in epoch: Int?, isOwn: Bool = false) -> CacheGeneration? {
        guard let value = reply.int else { return nil }
        let generation = CacheGeneration(value: Int64(value))
        state.withLock { state in
            if epoch ?? state.epoch == state.epoch { state.generations.record(generation, of: name, isOwn: isOwn) }
        }
        return generation
    }

    // MARK: Writing

    /// Sends messages to the other processes.
    func publish(_ messages: [ChangeMessage]) async throws(RedisError) {
        guard !messages.isEmpty else { return }
        var arguments: [any RedisArgument] = [Self.length, sender]
        for message in messages {
            guard let sealed = try? seal.seal(message.encoded, as: stream) else { continue }
            arguments.append(sealed)
        }
        _ = try await redis.run(CacheScripts.publish, keys: [stream, counter], arguments: arguments)
    }

    // MARK: Leases

    /// Waits for the release of a lease by another process.
    ///
    /// - Parameters:
    ///   - name: The name of the lease on the server.
    ///   - limit: The maximum time.
    /// - Returns: True if the lease has been released; false if the time is up or the task is cancelled.
    func waitForRelease(of name: String, within limit: Duration) async -> Bool {
        var timer: Task<Void, Never>?
        defer { timer?.cancel() }
        return await state.wait(cancelled: false) { waiter in
            let isRefused = state.withLock { state in
                if Task.isCancelled || state.isClosed { return true }
                state.waiters[name, default: []].append(waiter)
                return false
            }
            if isRefused { return waiter.resume(returning: false) }
            // Begins when the waiter is there, and ends only this one: those for the same lease have other limits.
            let id = waiter.id
            timer = Task { [state, clock] in
                do { try await clock.sleep(for: limit) } catch { return }
                state.withLock { $0.removeWaiter(id, for: name) }?.resume(returning: false)
            }
        } leave: { [state] id in
            state.withLock { $0.removeWaiter(id, for: name) }
        }
    }

    private func wake(_ name: String) {
        let waiters = state.withLock { $0.waiters.removeValue(forKey: name) } ?? []
        for waiter in waiters { waiter.resume(returning: true) }
    }
}

extension RedisError {
    static let unexpectedReply = RedisError(
        .invalidReply,
        "The Redis server sent a reply of another kind than expected."
    )
}

/// The kinds of errors for which the news could not be read, each of which is reported once.
struct FeedWarnings {
    /// The maximum number of kinds.
    private static let limit = 32

    private var reported: Set<String> = []

    /// Returns the text for an error; nil if one of the same kind was reported before, or if the reader has ended.
    mutating func text(for error: RedisError) -> String? {
        guard error.code != .cancelled, reported.count < Self.limit,
            reported.insert(error.reply?.prefix ?? error.code.description).inserted
        else { return nil }
        return "The changes that other processes make to the cache cannot be read: \(error.description)"
    }
}

// MARK: - Change message

/// A message from one process to all others that share a cache.
enum ChangeMessage: Sendable, Equatable {
    /// A generation that a removal has begun, by its name on the server.
    struct Generation: Sendable, Equatable {
        let name: String
        let generation: CacheGeneration
    }

    /// An entry was stored under this key.
    case stored(CacheKey)
    case removed(CacheSelection, [Generation])
    /// A lease was released, by its name on the server.
    case released(String)

    private static let version: UInt8 = 1

    /// The bytes of the message.
    var encoded: Data {
        var writer = EntryHeadWriter()
        writer.append(Self.version)
        switch self {
        case .stored(let key):
            writer.append(UInt8(1))
            writer.append(UInt8(key.space.rawValue))
            writer.append(key.partition)
            writer.append(key.name)
        case .removed(let selection, let generations):
            writer.append(UInt8(2))
            writer.append(selection)
            writer.append(UInt16(clamping: generations.count))
            for generation in generations {
                writer.append(generation.name)
                writer.append(generation.generation.value)
            }
        case .released(let name):
            writer.append(UInt8(3))
            writer.append(name)
        }
        return Data(writer.bytes)
    }

    /// Decodes a message; nil if the bytes are incomplete, too long or of another version.
    init?(_ bytes: Data) {
        let message = bytes.withUnsafeBytes { bytes -> ChangeMessage? in
            var reader = EntryHeadReader(bytes)
            guard reader.integer(UInt8.self) == Self.version, let message = Self.message(&reader), reader.isAtEnd else {
                return nil
            }
            return message
        }
        guard let message else { return nil }
        self = message
    }

    private static func message(_ reader: inout EntryHeadReader) -> ChangeMessage? {
        switch reader.integer(UInt8.self) {
        case 1:
            guard let space = reader.integer(UInt8.self).flatMap({ CacheKey.Space(rawValue: Int($0)) }),
                let partition = reader.string(), let name = reader.string()
            else { return nil }
            return .stored(CacheKey(name, in: space, partition: partition))
        case 2:
            guard let selection = reader.selection(), let count = reader.integer(UInt16.self) else { return nil }
            var generations: [Generation] = []
            for _ in 0..<count {
                guard let name = reader.string(), let value = reader.integer(Int64.self) else { return nil }
                generations.append(Generation(name: name, generation: CacheGeneration(value: value)))
            }
            return .removed(selection, generations)
        case 3: return reader.string().map(ChangeMessage.released)
        default: return nil
        }
    }
}

extension EntryHeadWriter {
    /// Appends a selection without its expiration: a removal of expired entries is no message.
    fileprivate mutating func append(_ selection: CacheSelection) {
        var spaces: UInt8 = 0xFF
        if let selected = selection.spaces { spaces = selected.reduce(0) { $0 | 1 << UInt8($1.rawValue) } }
        append(spaces)
        for text in [selection.partition, selection.name, selection.variant, selection.tag] {
            append(UInt8(text == nil ? 0 : 1))
            if let text { append(text) }
        }
    }
}

extension EntryHeadReader {
    fileprivate mutating func selection() -> CacheSelection? {
        var selection = CacheSelection()
        guard let spaces = integer(UInt8.self) else { return nil }
        if spaces != 0xFF {
            selection.spaces = Set(CacheKey.Space.allCases.filter { spaces & 1 << UInt8($0.rawValue) != 0 })
        }
        for property in [\CacheSelection.partition, \.name, \.variant, \.tag] {
            switch integer(UInt8.self) {
            case 0: continue
            case 1:
                guard let text = string() else { return nil }
                selection[keyPath: property] = text
            default: return nil
            }
        }
        return selection
    }
}
#endif
