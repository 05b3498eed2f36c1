import SluiceCache
import SluiceFoundation
import SluiceHTTP

/// The cases that every `CacheStorage` must pass.
///
/// The cases do not depend on a test library. With Swift Testing, write:
///
/// ```swift
/// @Test(arguments: CacheStorageConformance.cases)
/// func myStorageConforms(_ case: CacheStorageConformance.Case) async throws {
///     let database = try Database()
///     try await CacheStorageConformance.run(`case`) { MyStorage(database) }
/// }
/// ```
public enum CacheStorageConformance {
    /// A requirement for a storage.
    public struct Case: Sendable, CustomStringConvertible {
        /// The name, which states the requirement.
        public let description: String

        let check: @Sendable (StorageTrial) async throws -> Void

        init(_ name: String, _ check: @escaping @Sendable (StorageTrial) async throws -> Void) {
            description = name
            self.check = check
        }
    }

    /// All cases, starting with the basic ones.
    public static var cases: [Case] { storingCases + removalCases + writerCases + sharingCases }

    /// Runs a case.
    ///
    /// - Parameters:
    ///   - case: The case.
    ///   - limit: The time limit. A storage that hangs fails the case. 30 seconds by default.
    ///   - open: Called once or more to open a storage. All of them have the same contents, as those of several
    ///     processes, and the first has none.
    /// - Throws: A ``ConformanceFailure`` with the expected and the actual result.
    public static func run(
        _ case: Case,
        within limit: Duration = .seconds(30),
        on open: @escaping @Sendable () async throws -> any CacheStorage
    ) async throws(ConformanceFailure) {
        let name = `case`.description
        let failure: String?
        do throws(SluiceError) {
            failure = try await TimedWork.outcome(within: limit) {
                do {
                    try await `case`.check(StorageTrial(storage: try await open(), open: open))
                    return nil
                } catch {
                    return "\(error)"
                }
            }
        } catch {
            failure = error.code == .cancelled ? "The case was cancelled." : "The case took more than \(limit)."
        }
        if let failure { throw ConformanceFailure(name, failure) }
    }
}

/// The storages of one run, with the checks of their contents.
struct StorageTrial: Sendable {
    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    let storage: any CacheStorage
    let open: @Sendable () async throws -> any CacheStorage

    /// The current time, in whole seconds. Storages may use the system's clock.
    let now = Date(timeIntervalSince1970: Date().timeIntervalSince1970.rounded(.down))

    func expect(_ condition: Bool, _ requirement: String) throws {
        if !condition { throw Failure(description: requirement) }
    }

    /// Returns an entry with a text as its body.
    func entry(
        _ name: String,
        _ text: String = "text",
        variant: String = "",
        in space: CacheKey.Space = .values,
        partition: String = "",
        age: Double = 0,
        expires: Date? = nil,
        tags: Set<String> = []
    ) -> CacheEntry {
        CacheEntry(
            key: CacheKey(name, in: space, partition: partition),
            variant: variant,
            body: Data(text.utf8),
            stored: now - age,
            expires: expires,
            tags: tags
        )
    }

    func store(_ entries: CacheEntry...) async throws {
        try await storage.apply(entries.map(CacheChange.store))
    }

    func remove(_ narrow: (inout CacheSelection) -> Void) async throws {
        var selection = CacheSelection()
        narrow(&selection)
        try await storage.apply([.remove(selection)])
    }

    /// Checks the texts that are stored under a name, newest first.
    func expect(
        _ texts: [String],
        under name: String,
        in space: CacheKey.Space = .values,
        partition: String = "",
        at date: Date? = nil,
        of other: (any CacheStorage)? = nil
    ) async throws {
        let key = CacheKey(name, in: space, partition: partition)
        let entries = try await (other ?? storage).entries(for: key, at: date ?? now)
        let found = entries.map { String(decoding: $0.body, as: UTF8.self) }
        guard found == texts else {
            throw Failure(description: "Under “\(name)” there should be \(texts), but there is \(found).")
        }
        guard entries.allSatisfy({ $0.key == key }) else {
            throw Failure(description: "An entry under “\(name)” has another key.")
        }
    }
}

// MARK: - Cache storage cases

extension CacheStorageConformance {
    // MARK: Storing

    static let storingCases = [
        Case("A key under which nothing was stored has no entries") { trial in
            try await trial.expect([], under: "a")
        },
        Case("A stored value is read with everything that belongs to it") { trial in
            let entry = CacheEntry(
                key: CacheKey("a", partition: "user"),
                body: Data([0, 255, 10, 0]),
                stored: trial.now,
                expires: trial.now + 3600,
                tags: ["x", "y", "ü"]
            )
            try await trial.store(entry)
            let read = try await trial.storage.entries(for: entry.key, at: trial.now)
            try trial.expect(read.count == 1, "There should be one entry.")
            try trial.expect(read[0].body == entry.body, "The body should be the same.")
            try trial.expect(read[0].tags == entry.tags, "The tags should be the same.")
            try trial.expect(read[0].response == nil, "A value has no response.")
            try trial.expect(isSame(read[0].stored, entry.stored), "The time of storing should be the same.")
            try trial.expect(
                read[0].expires.map { isSame($0, trial.now + 3600) } == true,
                "The expiration should be the same."
            )
        },
        Case("A stored response is read with its head and times") { trial in
            var head = HTTPResponse(status: .ok)
            head.headers.append(.contentType, "text/plain")
            head.headers.append("X-Many", "1")
            head.headers.append("X-Many", "")
            let response = StoredResponse(
                method: .get,
                url: "https://example.com/a?b=c",
                identity: "someone",
                head: head,
                requested: trial.now - 2,
                received: trial.now - 1
            )
            let key = CacheKey("https://example.com/a?b=c", in: .http)
            try await trial.store(CacheEntry(key: key, response: response, body: Data("b".utf8), stored: trial.now))
            let read = try await trial.storage.entries(for: key, at: trial.now).first?.response
            try trial.expect(read?.method == .get && read?.url == response.url, "The request should be the same.")
            try trial.expect(read?.identity == "someone", "The identity should be the same.")
            try trial.expect(read?.head.status == .ok, "The status should be the same.")
            try trial.expect(read?.head.headers == head.headers, "The headers should be the same.")
            try trial.expect(read.map { isSame($0.requested, trial.now - 2) } == true, "The times should be the same.")
            try trial.expect(read.map { isSame($0.received, trial.now - 1) } == true, "The times should be the same.")
        },
        Case("An empty body is stored") { trial in
            try await trial.store(trial.entry("a", ""))
            try await trial.expect([""], under: "a")
        },
        Case("A body of three megabytes is stored") { trial in
            let body = Data((0..<3 << 20).map { UInt8(truncatingIfNeeded: $0 &* 31 >> 3) })
            let key = CacheKey("large")
            try await trial.store(CacheEntry(key: key, body: body, stored: trial.now))
            let read = try await trial.storage.entries(for: key, at: trial.now)
            try trial.expect(read.first?.body == body, "The body should be the same.")
        },
        Case("An entry replaces the one with its key and variant") { trial in
            try await trial.store(trial.entry("a", "1", age: 1))
            try await trial.store(trial.entry("a", "2"))
            try await trial.expect(["2"], under: "a")
        },
        Case("Variants under a key are read together, newest first") { trial in
            try await trial.store(
                trial.entry("a", "1", variant: "de", age: 2),
                trial.entry("a", "3", variant: "en"),
                trial.entry("a", "2", variant: "fr", age: 1)
            )
            try await trial.expect(["3", "2", "1"], under: "a")
        },
        Case("Spaces and partitions are independent") { trial in
            try await trial.store(
                trial.entry("a", "1"),
                trial.entry("a", "2", in: .responses),
                trial.entry("a", "3", in: .http),
                trial.entry("a", "4", partition: "p")
            )
            try await trial.expect(["1"], under: "a")
            try await trial.expect(["2"], under: "a", in: .responses)
            try await trial.expect(["3"], under: "a", in: .http)
            try await trial.expect(["4"], under: "a", partition: "p")
        },
        Case("Names with different bytes are different, even if they look the same") { trial in
            try await trial.store(trial.entry("é", "1"), trial.entry("e\u{301}", "2"))
            try await trial.expect(["1"], under: "é")
            try await trial.expect(["2"], under: "e\u{301}")
            try await trial.store(trial.entry("a", "3", partition: "bc"), trial.entry("ca", "4", partition: "b"))
            try await trial.expect(["3"], under: "a", partition: "bc")
            try await trial.expect(["4"], under: "ca", partition: "b")
        },
        Case("An expired entry is not read") { trial in
            try await trial.store(trial.entry("a", expires: trial.now + 60))
            try await trial.expect(["text"], under: "a", at: trial.now + 59)
            try await trial.expect([], under: "a", at: trial.now + 61)
        },
        Case("An access extends the lifetime of an entry that allows it") { trial in
            let entry = CacheEntry(
                key: CacheKey("a"),
                body: Data("text".utf8),
                stored: trial.now,
                expires: trial.now + 600,
                renewal: .seconds(600)
            )
            try await trial.store(entry)
            let (accessed, expires) = (trial.now + 300, trial.now + 900)
            let touch = CacheChange.touch(
                entry.key,
                variant: "",
                stored: entry.stored,
                accessed: accessed,
                expires: expires
            )
            try await trial.storage.apply([touch])
            let read = try await trial.storage.entries(for: entry.key, at: trial.now + 700)
            try trial.expect(read.count == 1, "The entry should have been extended.")
            try trial.expect(read[0].renewal == .seconds(600), "The renewal should be the same.")
            try trial.expect(
                read[0].expires.map { isSame($0, expires) } == true,
                "The entry should have the extended expiration."
            )
        },
        Case("Changes are made in their order") { trial in
            var all = CacheSelection()
            all.partition = ""
            try await trial.storage.apply([
                .store(trial.entry("a", "1")),
                .remove(CacheSelection(CacheKey("a"))),
                .store(trial.entry("a", "2")),
                .store(trial.entry("b", "1")),
                .remove(all),
                .store(trial.entry("b", "2")),
            ])
            try await trial.expect([], under: "a")
            try await trial.expect(["2"], under: "b")
        },
        Case("Many changes at once are made") { trial in
            try await trial.storage.apply((0..<300).map { .store(trial.entry("\($0)", "\($0)")) })
            for number in [0, 1, 150, 299] { try await trial.expect(["\(number)"], under: "\(number)") }
        },
    ]

    /// True if two times are the same within the error of storages that use the clock of a server.
    private static func isSame(_ one: Date, _ other: Date) -> Bool { abs(one.timeIntervalSince(other)) < 1 }

    // MARK: Removal

    static let removalCases = [
        Case("A removal of a key removes all its variants and nothing else") { trial in
            try await trial.store(
                trial.entry("a", variant: "1"),
                trial.entry("a", variant: "2", age: 1),
                trial.entry("b")
            )
            try await trial.storage.apply([.remove(CacheSelection(CacheKey("a")))])
            try await trial.expect([], under: "a")
            try await trial.expect(["text"], under: "b")
        },
        Case("A removal of a variant leaves the others") { trial in
            try await trial.store(trial.entry("a", "1", variant: "1"), trial.entry("a", "2", variant: ""))
            try await trial.storage.apply([.remove(CacheSelection(CacheKey("a"), variant: ""))])
            try await trial.expect(["1"], under: "a")
            try await trial.storage.apply([.remove(CacheSelection(CacheKey("a"), variant: "1"))])
            try await trial.expect([], under: "a")
        },
        Case("A removal of a tag removes the entries of all spaces and partitions with it") { trial in
            try await trial.store(
                trial.entry("a", tags: ["x"]),
                trial.entry("b", in: .http, partition: "p", tags: ["y", "x"]),
                trial.entry("c", tags: ["y"])
            )
            try await trial.remove { $0.tag = "x" }
            try await trial.expect([], under: "a")
            try await trial.expect([], under: "b", in: .http, partition: "p")
            try await trial.expect(["text"], under: "c")
        },
        Case("A removal of a tag in a partition leaves the other partitions") { trial in
            try await trial.store(
                trial.entry("a", partition: "p", tags: ["x"]),
                trial.entry("a", partition: "q", tags: ["x"])
            )
            try await trial.remove {
                $0.partition = "p"
                $0.tag = "x"
            }
            try await trial.expect([], under: "a", partition: "p")
            try await trial.expect(["text"], under: "a", partition: "q")
        },
        Case("A removal of a partition leaves the others, and can be limited to a space") { trial in
            for space in [CacheKey.Space.values, .http] {
                for partition in ["p", "q"] { try await trial.store(trial.entry("a", in: space, partition: partition)) }
            }
            try await trial.remove {
                $0.partition = "p"
                $0.spaces = [.values]
            }
            try await trial.expect([], under: "a", partition: "p")
            try await trial.expect(["text"], under: "a", in: .http, partition: "p")
            try await trial.remove { $0.partition = "p" }
            try await trial.expect([], under: "a", in: .http, partition: "p")
            try await trial.expect(["text"], under: "a", partition: "q")
        },
        Case("A removal of everything removes everything") { trial in
            try await trial.store(trial.entry("a"), trial.entry("b", in: .http, partition: "p", tags: ["x"]))
            try await trial.remove { _ in }
            try await trial.expect([], under: "a")
            try await trial.expect([], under: "b", in: .http, partition: "p")
        },
        Case("An entry that is stored after a removal stays") { trial in
            try await trial.store(trial.entry("a", "1", tags: ["x"]))
            try await trial.remove { $0.tag = "x" }
            try await trial.store(trial.entry("a", "2", tags: ["x"]))
            try await trial.expect(["2"], under: "a")
        },
        Case("A removal of nothing changes nothing") { trial in
            try await trial.store(trial.entry("a"))
            try await trial.remove { $0.tag = "none" }
            try await trial.storage.apply([.remove(CacheSelection(CacheKey("b")))])
            try await trial.storage.apply([])
            try await trial.expect(["text"], under: "a")
        },
    ]

    // MARK: Bodies in pieces

    static let writerCases = [
        Case("A body that is written in pieces is visible when it is committed") { trial in
            let writer = try await trial.storage.writer(for: trial.entry("a", "", age: 1))
            for piece in ["one ", "two ", "", "three"] { try await writer.write(Data(piece.utf8)) }
            try await trial.expect([], under: "a")
            try await writer.commit()
            try await trial.expect(["one two three"], under: "a")
        },
        Case("A large body that is written in pieces is read as it was") { trial in
            let piece = Data((0..<100_000).map { UInt8(truncatingIfNeeded: $0 &* 7) })
            let entry = trial.entry("a", "")
            let writer = try await trial.storage.writer(for: entry)
            for _ in 0..<30 { try await writer.write(piece) }
            try await trial.expect([], under: "a")
            try await writer.commit()
            let read = try await trial.storage.entries(for: entry.key, at: trial.now).first?.body
            try trial.expect(read == Data((0..<30).flatMap { _ in piece }), "The body should be the same.")
        },
        Case("A body that is never committed replaces nothing") { trial in
            try await trial.store(trial.entry("a", "before", age: 1))
            do {
                let writer = try await trial.storage.writer(for: trial.entry("a", ""))
                try await writer.write(Data(repeating: 1, count: 1 << 20))
            }
            try await trial.expect(["before"], under: "a")
        },
        Case("A small entry replaces a large one, and a large one a small one") { trial in
            let large = String(repeating: "large ", count: 200_000)
            for text in ["1", large, "2", large] {
                try await trial.store(trial.entry("a", text))
                try await trial.expect([text], under: "a")
            }
        },
    ]

    // MARK: Several processes

    static let sharingCases = [
        Case("What one process stores and removes, another one reads") { trial in
            let other = try await trial.open()
            try await trial.store(trial.entry("a", "1", tags: ["x"]))
            try await trial.expect(["1"], under: "a", of: other)
            try await other.apply([.store(trial.entry("a", "2", tags: ["x"]))])
            try await trial.expect(["2"], under: "a")
            var selection = CacheSelection()
            selection.tag = "x"
            try await other.apply([.remove(selection)])
            try await trial.expect([], under: "a")
        },
        Case("The changes of other processes are reported, where the storage reports them") { trial in
            guard let invalidations = trial.storage.invalidations() else { return }
            let other = try await trial.open()
            var iterator = invalidations.makeAsyncIterator()
            let marker = CacheKey("marker")
            var selection = CacheSelection()
            selection.tag = "x"
            // The storage may begin to listen only now. Until it reports a change, further ones are made.
            let changes = Task { [selection] in
                while !Task.isCancelled {
                    try await other.apply([.store(trial.entry("marker")), .remove(selection)])
                    try await Task.sleep(for: .milliseconds(5))
                }
            }
            defer { changes.cancel() }
            var missing: Set<CacheInvalidation> = [.stored(marker), .removed(selection)]
            while !missing.isEmpty {
                guard let next = await iterator.next() else {
                    throw StorageTrial.Failure(description: "The reports should not end.")
                }
                missing.remove(next)
            }
        },
    ]
}

// MARK: - Conformance failure

/// A requirement that a transport or a storage does not meet.
public struct ConformanceFailure: LocalizedError, Sendable, CustomStringConvertible, DescribedError {
    package let caseName: String
    /// The expected and the actual result.
    package let reason: String

    /// The case name and the reason.
    public var description: String { "\(caseName): \(reason)" }

    init(_ caseName: String, _ reason: String) {
        self.caseName = caseName
        self.reason = reason
    }
}
