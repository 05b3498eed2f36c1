import SluiceHTTP

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Notes objects that must be gone at the end of ``expectNoLeaks(descriptors:within:fileID:line:_:)``.
public final class LeakDetector: Sendable {
    private struct Noted {
        weak var object: (any AnyObject & Sendable)?
        let name: String
    }

    private let noted = Locked<[Noted]>([])

    /// Notes an object, and gives it back.
    @discardableResult
    public func note<Object: AnyObject & Sendable>(_ object: Object) -> Object {
        noted.withLock { $0.append(Noted(object: object, name: "\(type(of: object))")) }
        return object
    }

    /// The types of those that are still there.
    var leaked: [String] { noted.withLock { $0.filter { $0.object != nil }.map(\.name) } }
}

/// Expects that nothing is left of what a block has made: no object that it noted, and no open descriptor.
///
/// ```swift
/// try await expectNoLeaks { leaks in
///     let sender = leaks.note(client.data.get("motto").sender())
///     _ = try await sender.value
/// }
/// ```
///
/// What other threads have still to let go of is waited for. Descriptors are counted on Linux, for the whole process: those of tests that
/// run at the same time count too, and so do connections that an engine keeps open to a server that is still there, so stop it in the block.
///
/// - Parameters:
///   - descriptors: Whether open descriptors are counted.
///   - limit: How long it may take until all is gone; 10 seconds by default.
///   - fileID: Where the expectation stands.
///   - line: Where the expectation stands.
///   - body: What might leak.
/// - Returns: What the block returns.
/// - Throws: What the block throws, an ``ExpectationFailure`` that names what is left, or `CancellationError` when the task is cancelled.
@discardableResult
public func expectNoLeaks<Value>(
    descriptors: Bool = true,
    within limit: Duration = .seconds(10),
    fileID: StaticString = #fileID,
    line: UInt = #line,
    _ body: (LeakDetector) async throws -> Value
) async throws -> Value {
    let detector = LeakDetector()
    let before = descriptors ? openDescriptors() : nil
    let value = try await body(detector)
    let end = ContinuousClock.now + limit
    while true {
        let leaked = detector.leaked
        let isLate = ContinuousClock.now >= end
        // To count them is to read a folder, and is worth it only once they might all be closed.
        let after = descriptors && (leaked.isEmpty || isLate) ? openDescriptors() : nil
        let isMore = if let before, let after { after > before } else { false }
        if leaked.isEmpty && !isMore { return value }
        try Task.checkCancellation()
        if isLate {
            var what = leaked.isEmpty ? [] : ["objects of the types \(leaked.sorted().joined(separator: ", "))"]
            if isMore { what.append("\(after ?? 0) open descriptors, where there were \(before ?? 0)") }
            throw ExpectationFailure("There are left: \(what.joined(separator: "; ")).", fileID, line)
        }
        await Task.yield()
    }
}

/// How many descriptors the process has open; nil where the system does not say.
private func openDescriptors() -> Int? {
    #if os(Linux)
    (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd"))?.count
    #else
    nil
    #endif
}
