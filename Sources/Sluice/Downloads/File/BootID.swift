import SluiceHTTP

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif
#if canImport(Darwin)
import Darwin
#endif

/// The identifier of the current boot of the system. Bytes written since this boot are still there, on the disk or in
/// memory.
enum BootID {
    /// Nil if the system does not provide one.
    static let current: String? = {
        #if canImport(Darwin)
        var text = [CChar](repeating: 0, count: 64)
        var size = text.count
        guard sysctlbyname("kern.bootsessionuuid", &text, &size, nil, 0) == 0 else { return nil }
        let id = String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        #else
        guard case .contents(let data) = SystemFile.contents(of: "/proc/sys/kernel/random/boot_id", limit: 256) else {
            return nil
        }
        let id = String(decoding: data.prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self)
        #endif
        return id.isEmpty ? nil : id
    }()
}
