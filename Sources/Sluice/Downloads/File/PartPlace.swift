import SluiceHTTP

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The paths of a download, its partial file and its journal. All are in one folder, so that renaming is atomic.
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
    /// The common prefix of the names of the partial file and its journal.
    private let stem: String

    /// Determines the paths of a download.
    ///
    /// - Parameters:
    ///   - key: The key that sends of the same download share.
    ///   - destination: The place for the download. Its conflict rule does not affect the partial file.
    /// - Throws: `cannotWriteFile` if the destination is not the path of a file.
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

    /// The same paths with a random part in the names, which no other sender uses.
    var unique: PartPlace {
        PartPlace(self, stem: "\(stem).\(Self.random)")
    }

    var part: String { path(of: "\(stem).sluicepart") }
    var journal: String { path(of: "\(stem).sluicejournal") }
    /// The temporary path under which the journal is written.
    var newJournal: String { path(of: "\(stem).sluicejournal.new") }

    /// Returns the name of the download in error messages.
    func subject(_ resource: RemoteResource?) -> String {
        switch finalName {
        case .chosen(let name): path(of: name)
        case .suggested: resource?.name.map { path(of: SafeFileName($0).value) } ?? folder
        case .temporary: folder
        }
    }

    /// Returns the name that the download gets if there is no conflict.
    func name(of resource: RemoteResource?) -> String {
        // Any program can have written the journal, so its name is made safe again.
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
        // The system would cut such a path at the NUL; the URL leaves it encoded.
        if path.isEmpty || path.utf8.contains(0) || url.path(percentEncoded: true).contains("%00") {
            throw .cannotWrite(path.prefix { $0 != "\0" } + "", "its path is empty or holds a NUL")
        }
        return path
    }
}
