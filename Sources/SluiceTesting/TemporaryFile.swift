#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A file of one test's own; whoever makes it removes it.
package struct TemporaryFile: Sendable {
    package let url = FileManager.default.temporaryDirectory.appending(path: "sluice-\(UUID().uuidString)")

    /// Writes the file.
    package init(_ data: Data) throws {
        try write(data)
    }

    package func write(_ data: Data) throws {
        try data.write(to: url)
    }

    package func remove() {
        try? FileManager.default.removeItem(at: url)
    }

    #if os(Linux)
    /// How many descriptors of this process are open on the file.
    package var openDescriptors: Int {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")) ?? []
        return names.count {
            (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\($0)")) == url.path
        }
    }
    #endif
}
