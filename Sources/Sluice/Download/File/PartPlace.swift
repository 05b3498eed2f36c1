import SluiceHTTP

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Where a download's part, its journal and in the end the download lie: all in one folder, so that renaming is one step.
struct PartPlace: Sendable, Hashable {
    enum FinalName: Sendable, Hashable {
        case chosen(String)
        case suggested
        case temporary
    }

    let folder: String
    let finalName: FinalName
    let conflict: DownloadDestination.Conflict
    let createsDirectories: Bool
    /// What the names of the part and its journal begin with.
    private let stem: String

    /// Finds the place of a download.
    ///
    /// - Parameters:
    ///   - key: What is the same for sends that resume each other.
    ///   - destination: Where the download is to be kept; how a conflict is resolved makes no difference to the part.
    /// - Throws: `cannotWriteFile` for what is no path of a file.
    init(key: String, destination: DownloadDestination) throws(SluiceError) {
        let kind: String
        switch destination.target {
        case .file(let url):
            let path = try Self.path(of: url)
            let name =
                path.utf8.lastIndex(of: UInt8(ascii: "/")).map { path[path.utf8.index(after: $0)...] } ?? path[...]
            if url.hasDirectoryPath || name.isEmpty || name == "." || name == ".." {
                throw .cannotWrite(path, "its path is that of a folder")
            }
            folder = SystemFile.folder(of: path)
            finalName = .chosen(String(name))
            kind = "file \(path)"
        case .suggested(let url):
            folder = try Self.path(of: url)
            finalName = .suggested
            kind = "suggested \(folder)"
        case .temporary:
            folder = try Self.path(of: FileManager.default.temporaryDirectory)
            finalName = .temporary
            kind = "temporary"
        }
        conflict = destination.conflict
        createsDirectories = destination.createsDirectories
        guard let digest = SystemSHA256.digest(of: Array("\(key)\0\(kind)".utf8)) else {
            throw SluiceError(.unsupported, "Downloads need SHA-256, which the system's library refuses.", step: .file)
        }
        stem =
            "."
            + HexText.text(length: 16) { text in for byte in digest.prefix(8) { text.append(UInt64(byte), digits: 2) } }
    }

    private init(_ place: PartPlace, stem: String) {
        folder = place.folder
        finalName = place.finalName
        conflict = place.conflict
        createsDirectories = place.createsDirectories
        self.stem = stem
    }

    /// The same with a part that nobody else can know of.
    var unique: PartPlace {
        PartPlace(self, stem: "\(stem).\(Self.random)")
    }

    var part: String { path(of: "\(stem).sluicepart") }
    var journal: String { path(of: "\(stem).sluicejournal") }
    /// Under this name it is written.
    var newJournal: String { path(of: "\(stem).sluicejournal.new") }

    /// What errors call the download.
    func subject(_ resource: RemoteResource?) -> String {
        switch finalName {
        case .chosen(let name): path(of: name)
        case .suggested: resource?.name.map { path(of: SafeFileName($0).value) } ?? folder
        case .temporary: folder
        }
    }

    /// The name that the download gets if nothing is in its way.
    func name(of resource: RemoteResource?) -> String {
        // What a journal says may have been written by anyone: it is made safe again.
        switch finalName {
        case .chosen(let name): return name
        case .suggested: return SafeFileName(resource?.name ?? "").value
        case .temporary:
            let name = SafeFileName(resource?.name ?? "").value
            return "sluice-\(Self.random)\(FileNameParts(name[...]).ending)"
        }
    }

    func path(of name: String) -> String {
        folder == "/" ? "/\(name)" : "\(folder)/\(name)"
    }

    private static var random: String { String(UInt64.random(in: .min ... .max), radix: 36) }

    private static func path(of url: URL) throws(SluiceError) -> String {
        if let scheme = url.scheme, scheme.lowercased() != "file" {
            throw SluiceError(.cannotWriteFile, "A URL whose scheme is “\(scheme)” names no file.", step: .file)
        }
        let path = url.absoluteURL.path
        // The system would take such a path for a shorter one; the URL leaves it encoded.
        if path.isEmpty || path.utf8.contains(0) || url.path(percentEncoded: true).contains("%00") {
            throw .cannotWrite(path.prefix { $0 != "\0" } + "", "its path is empty or holds a NUL")
        }
        return path
    }
}
