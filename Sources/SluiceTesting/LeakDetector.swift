import SluiceFoundation
import SluiceHTTP

/// Collects the objects that ``expectNoLeaks(descriptors:within:isolation:fileID:line:_:)`` expects to be released.
public final class LeakDetector: Sendable {
    private struct WeakReference {
        weak var object: (any AnyObject & Sendable)?
        let name: String
    }

    private let references = Locked<[WeakReference]>([])

    /// Adds an object and returns it. The detector holds a weak reference.
    @discardableResult
    public func track<Object: AnyObject & Sendable>(_ object: Object) -> Object {
        references.withLock { $0.append(WeakReference(object: object, name: "\(type(of: object))")) }
        return object
    }

    /// The types of the collected objects that still exist.
    var leaked: [String] { references.withLock { $0.filter { $0.object != nil }.map(\.name) } }
}

/// Expects that a closure leaks neither the objects that it tracks nor open file descriptors.
///
/// ```swift
/// try await expectNoLeaks { leaks in
///     let sender = leaks.track(client.data.get("motto").sender())
///     _ = try await sender.value
/// }
/// ```
///
/// The function waits for other threads to release their references. File descriptors are counted on Linux only, for the
/// whole process. The count includes descriptors of tests that run at the same time, and connections that an engine keeps
/// open to a running server, so stop the server inside the closure.
///
/// - Parameters:
///   - descriptors: True to count open file descriptors too.
///   - limit: The maximum time to wait for the release. 10 seconds by default.
///   - isolation: The actor that runs the code; the caller's by default.
///   - fileID: The file of the expectation.
///   - line: The line of the expectation.
///   - body: The code to check for leaks.
/// - Returns: The value that the closure returns.
/// - Throws: The error that the closure throws, an ``ExpectationFailure`` that names the leaks, or `CancellationError` if
///   the task is cancelled.
@discardableResult
public func expectNoLeaks<Value>(
    descriptors: Bool = true,
    within limit: Duration = .seconds(10),
    isolation: isolated (any Actor)? = #isolation,
    fileID: StaticString = #fileID,
    line: UInt = #line,
    _ body: (LeakDetector) async throws -> Value
) async throws -> Value {
    let detector = LeakDetector()
    let before = descriptors ? openDescriptors() : nil
    let value = try await body(detector)
    let end = ContinuousClock.now + limit.bounded
    while true {
        let leaked = detector.leaked
        let isLate = ContinuousClock.now >= end
        // Counting descriptors reads a directory, so count only after the objects are gone or the time is up.
        let after = descriptors && (leaked.isEmpty || isLate) ? openDescriptors() : nil
        let hasMoreDescriptors = if let before, let after { after > before } else { false }
        if leaked.isEmpty && !hasMoreDescriptors { return value }
        try Task.checkCancellation()
        if isLate {
            var leaks = leaked.isEmpty ? [] : ["objects of the types \(leaked.sorted().joined(separator: ", "))"]
            if hasMoreDescriptors {
                leaks.append("\(after ?? 0) open file descriptors, compared with \(before ?? 0) before")
            }
            throw ExpectationFailure("Leaks were found: \(leaks.joined(separator: "; ")).", fileID, line)
        }
        await Task.yield()
    }
}

/// Returns the number of open file descriptors of the process, or nil if the system does not report it.
private func openDescriptors() -> Int? {
    #if os(Linux)
    (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd"))?.count
    #else
    nil
    #endif
}
