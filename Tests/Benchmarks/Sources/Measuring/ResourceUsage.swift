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

/// The resources that this process has used.
package enum ResourceUsage {
    /// The CPU time of all threads in user mode and in the kernel, in seconds.
    package static var cpuSeconds: Double {
        let usage = current
        return seconds(usage.ru_utime) + seconds(usage.ru_stime)
    }

    /// The maximum resident memory, in MiB.
    ///
    /// On Linux this is VmHWM. `ru_maxrss` is inherited across `exec` and would include the memory of the shell.
    package static var peakMiB: Double {
        #if os(Linux)
        return kibibytes(of: "VmHWM:") / 1024
        #else
        return Double(current.ru_maxrss) / Double(1 << 20)
        #endif
    }

    /// The current resident memory, in KiB; NaN on other systems than Linux.
    package static var residentKiB: Double {
        #if os(Linux)
        return kibibytes(of: "VmRSS:")
        #else
        return .nan
        #endif
    }

    /// The paths of the mapped shared libraries; empty on other systems than Linux.
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

    /// The number of allocations; nil if the library that counts them is not preloaded.
    package static var allocations: UInt? {
        dlsym(nil, "count_of_allocations").map { unsafeBitCast($0, to: (@convention(c) () -> UInt).self)() }
    }

    /// Returns free memory to the system, as far as the allocator supports it.
    package static func releaseFreeMemory() {
        #if canImport(Glibc)
        // The module of the C library lacks <malloc.h>.
        guard let symbol = dlsym(nil, "malloc_trim") else { return }
        _ = unsafeBitCast(symbol, to: (@convention(c) (Int) -> CInt).self)(0)
        #endif
    }

    #if os(Linux)
    /// Returns the number in a line of `/proc/self/status`.
    private static func kibibytes(of label: String) -> Double {
        let line = text(of: "/proc/self/status").split(separator: "\n").first { $0.hasPrefix(label) } ?? ""
        return line.split { !("0"..."9").contains($0) }.first.flatMap { Double($0) } ?? .nan
    }
    #endif

    #if os(Linux)
    /// Returns the text of a system file, whose size is not known in advance.
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
