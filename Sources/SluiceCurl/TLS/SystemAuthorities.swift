#if os(Linux)
import CCurl
#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif
import Glibc
import SluiceHTTP

/// Where the system keeps the certificates it trusts, as libcurl was built to look for them.
struct SystemAuthorities {
    /// A file of them all, which libcurl keeps in memory once it has read it, if it is told of no directory besides.
    let file: String?
    /// A directory of which only those are read that are needed, anew for each connection.
    let directory: String?
    /// Whether there is the file.
    let hasFile: Bool

    static let shared = SystemAuthorities()

    /// Whether that is known; it cannot be set again otherwise, once a handle was set to look elsewhere.
    var isKnown: Bool { file != nil || directory != nil }

    private init() {
        file = sluice_authority_file().map { String(cString: $0) }
        hasFile = file.map { access($0, R_OK) == 0 } ?? false
        directory = sluice_authority_directory().map { String(cString: $0) }
    }

    /// The system's, as far as the directory does not have them, and some others; nil where those cannot be read.
    func adding(_ source: CertificateSource) -> Data? {
        switch source {
        case .bytes(let bytes): whole(bytes)
        case .file(let path): SystemAuthorities.contents(of: path).flatMap(whole)
        }
    }

    private func whole(_ others: Data) -> Data? {
        guard directory == nil, let file else { return others }
        return SystemAuthorities.contents(of: file).map { $0 + Data("\n".utf8) + others }
    }

    private static func contents(of path: String) -> Data? {
        try? Data(contentsOf: URL(filePath: path))
    }
}
#endif
