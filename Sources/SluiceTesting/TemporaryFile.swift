import SluiceFoundation
import SluiceHTTP

/// A file with a unique name in the temporary directory. Its creator must remove it.
package struct TemporaryFile: Sendable {
    package let url = FileManager.default.temporaryDirectory.appending(path: "sluice-\(UUID().uuidString)")

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
    /// The number of file descriptors that this process has open on the file.
    package var openDescriptors: Int {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")) ?? []
        return names.count {
            (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\($0)")) == url.path
        }
    }
    #endif
}
