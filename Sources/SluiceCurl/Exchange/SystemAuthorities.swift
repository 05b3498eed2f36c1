#if os(Linux)
import CCurl
#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif
import SluiceHTTP

/// Where the system keeps the certificates it trusts, as libcurl was built to look for them.
struct SystemAuthorities {
    /// A file of them all.
    let file: String?
    /// A directory of which only those are read that are needed.
    let directory: String?

    static let shared = SystemAuthorities()

    /// Whether that is known; it cannot be set again otherwise, once a handle was set to look elsewhere.
    var isKnown: Bool { file != nil || directory != nil }

    private init() {
        file = sluice_authority_file().map { String(cString: $0) }
        directory = sluice_authority_directory().map { String(cString: $0) }
    }

    /// The system's, as far as the directory does not have them, and some others; nil where those cannot be read.
    func adding(_ source: CertificateSource) -> Data {
        var all = Data()
        switch source {
        case .bytes(let bytes): all += bytes
        case .file(let path): all += (try? Data(contentsOf: URL(filePath: path))) ?? Data()
        }
        if directory == nil, let file, let system = try? Data(contentsOf: URL(filePath: file)) {
            all += Data("\n".utf8) + system
        }
        return all
    }
}
#endif
