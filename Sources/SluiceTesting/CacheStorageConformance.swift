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
            failure = "The case took more than \(limit)."
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
