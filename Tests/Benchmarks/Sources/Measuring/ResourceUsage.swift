#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif
#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// What this process has used so far.
package enum ResourceUsage {
    /// Seconds of CPU time, in user mode and in the kernel, of all threads.
    package static var cpuSeconds: Double {
        let usage = current
        return seconds(usage.ru_utime) + seconds(usage.ru_stime)
    }

    /// The most memory that was resident at any moment, in MiB.
    ///
    /// On Linux it is VmHWM: `ru_maxrss` is inherited over `exec` and would count the memory of the shell.
    package static var peakMiB: Double {
        #if os(Linux)
        return kibibytes(of: "VmHWM:") / 1024
        #else
        return Double(current.ru_maxrss) / Double(1 << 20)
        #endif
    }

    /// The memory that is resident now, in KiB; not a number where the system is not Linux.
    package static var residentKiB: Double {
        #if os(Linux)
        return kibibytes(of: "VmRSS:")
        #else
        return .nan
        #endif
    }

    /// The paths of the shared libraries that are mapped now; empty where the system is not Linux.
    package static var libraries: Set<String> {
        #if os(Linux)
        let maps = text(of: "/proc/self/maps")
        var libraries: Set<String> = []
        for line in maps.split(separator: "\n") {
            guard let slash = line.firstIndex(of: "/") else { continue }
            let path = String(line[slash...])
            if path.hasSuffix(".so") || path.contains(".so.") { libraries.insert(path) }
        }
        return libraries
        #else
        return []
        #endif
    }

    /// Gives the memory that has been freed back to the system, as far as the allocator can.
    package static func releaseFreeMemory() {
        #if canImport(Glibc)
        // The module of the C library lacks <malloc.h>.
        guard let symbol = dlsym(nil, "malloc_trim") else { return }
        _ = unsafeBitCast(symbol, to: (@convention(c) (Int) -> CInt).self)(0)
        #endif
    }

    #if os(Linux)
    /// The number in a line of the process's status.
    private static func kibibytes(of label: String) -> Double {
        let line = text(of: "/proc/self/status").split(separator: "\n").first { $0.hasPrefix(label) } ?? ""
        return line.split { !("0"..."9").contains($0) }.first.flatMap { Double($0) } ?? .nan
    }
    #endif

    #if os(Linux)
    /// The text of a file of the system's, which has no size that says how much there is to read.
    private static func text(of path: String) -> String {
        guard let file = fopen(path, "r") else { return "" }
        defer { fclose(file) }
        var bytes: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 16_384)
        while case let count = fread(&piece, 1, piece.count, file), count > 0 { bytes += piece.prefix(count) }
        return String(decoding: bytes, as: UTF8.self)
    }
    #endif

    private static var current: rusage {
        var usage = rusage()
        #if canImport(Glibc)
        getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
        #else
        getrusage(RUSAGE_SELF, &usage)
        #endif
        return usage
    }

    private static func seconds(_ time: timeval) -> Double {
        Double(time.tv_sec) + Double(time.tv_usec) / 1_000_000
    }
}
