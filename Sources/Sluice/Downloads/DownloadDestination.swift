import SluiceFoundation
import SluiceHTTP

/// The destination of a download: a file, a folder, or a temporary file.
///
/// ```swift
/// let backup = DownloadDestination.file(URL(filePath: "/var/backups/shop.db"), ifExists: .overwrite)
/// let attachment = DownloadDestination.suggested(in: URL.downloadsDirectory)
/// ```
///
/// While the transfer runs, the bytes are in a hidden file in the same folder. The file is renamed atomically when it
/// is complete.
public struct DownloadDestination: Sendable, Hashable {
    /// The action to take if a file with the name already exists.
    public enum Conflict: Sendable, Hashable {
        /// The download fails with ``SluiceError/Code/fileExists``. It fails before the transfer if the name is known
        /// in advance.
        case fail
        /// The file is replaced atomically. A folder, a device, a pipe or a socket is never replaced.
        case overwrite
        /// The download gets the next free name: `name 2.ext`, `name 3.ext`.
        case keepBoth
    }

    enum Target: Sendable, Hashable {
        case file(URL)
        case suggested(folder: URL)
        case temporary
    }

    let target: Target
    let conflict: Conflict
    let createsDirectories: Bool

    /// Stores the download in a given file.
    ///
    /// - Parameters:
    ///   - url: The URL of the file. A symbolic link there is replaced, not followed.
    ///   - ifExists: The action to take if the name already exists. By default, the download fails.
    ///   - createsDirectories: True to create missing folders.
    /// - Returns: The destination.
    public static func file(
        _ url: URL,
        ifExists: Conflict = .fail,
        createsDirectories: Bool = true
    ) -> DownloadDestination {
        DownloadDestination(target: .file(url), conflict: ifExists, createsDirectories: createsDirectories)
    }

    /// Stores the download in a folder, under the name that the server suggests in `Content-Disposition`, or the last
    /// component of the URL. The name is made safe.
    ///
    /// - Parameters:
    ///   - directory: The folder.
    ///   - ifExists: The action to take if the name already exists. By default, both files are kept.
    ///   - createsDirectories: True to create missing folders.
    /// - Returns: The destination.
    public static func suggested(
        in directory: URL,
        ifExists: Conflict = .keepBoth,
        createsDirectories: Bool = true
    ) -> DownloadDestination {
        DownloadDestination(
            target: .suggested(folder: directory),
            conflict: ifExists,
            createsDirectories: createsDirectories
        )
    }

    /// A unique name in the system's temporary folder, with the extension of the name that the server suggests. The
    /// caller removes the file. If all callers are cancelled while the file is decoded, it is removed. Only its owner can
    /// read and write it, since the folder is often shared.
    public static var temporary: DownloadDestination {
        DownloadDestination(target: .temporary, conflict: .keepBoth, createsDirectories: true)
    }
}

// MARK: - Safe file name

/// A file name that is valid in any folder on any system, made from any text that a server sends.
///
/// It is a single path component, is not hidden, contains no invisible or direction-changing characters, is not
/// reserved by Windows, and leaves room for a number within the 255 bytes that file systems allow.
struct SafeFileName: Sendable, Hashable {
    /// The maximum length in bytes of UTF-8, before a number is added.
    static let limit = 240
    /// The name used when nothing is left of the text.
    static let fallback = "download"

    let value: String
    /// True if nothing is left of the text.
    let isFallback: Bool

    /// Creates a safe name from any text; `download` if nothing is left.
    init(_ text: String) {
        // Take the last component, for the path separators of all systems.
        let component = text.unicodeScalars.split { $0 == "/" || $0 == "\\" }.last
        var scalars = String.UnicodeScalarView()
        for scalar in component ?? "".unicodeScalars[...] where !scalar.isDeceptive {
            scalars.append(scalar.isReserved ? "_" : scalar)
        }
        let name = String(scalars)[...].trimmed
        isFallback = name.isEmpty
        guard !name.isEmpty else {
            value = Self.fallback
            return
        }
        let cut = FileNameParts(Self.harmless(name)[...]).joined(within: Self.limit)
        // Cutting the name may have turned it into a device name.
        value = Self.harmless(cut[...])
    }

    private static func harmless(_ name: Substring) -> String {
        FileNameParts(name).isDevice ? "_\(name)" : String(name)
    }
}

/// A file name, split into stem and extension.
struct FileNameParts {
    let stem: Substring
    /// The extension with its dot. `.tar.gz` counts as one.
    let ending: Substring

    init(_ name: Substring) {
        var start = name.endIndex
        if let dot = name.utf8.lastIndex(of: UInt8(ascii: ".")), dot > name.startIndex {
            let ending = name[dot...].utf8
            if (2...20).contains(ending.count), !ending.contains(UInt8(ascii: " ")) { start = dot }
            // Bytes, because the comparison of characters takes quadratic time for some texts of a server.
            if name[..<start].utf8.suffix(4).elementsEqual(".tar".utf8),
                let tar = name.utf8.index(start, offsetBy: -4, limitedBy: name.startIndex),
                tar > name.startIndex
            {
                start = tar
            }
        }
        stem = name[..<start]
        ending = name[start...]
    }

    /// Inserts a number after the stem, and shortens the stem so that the name has at most 255 bytes.
    static func numbered(_ name: String, _ number: Int) -> String {
        FileNameParts(name[...]).joined(" \(number)", within: 255)
    }

    /// True if Windows treats the name as a device, whatever its extension.
    var isDevice: Bool {
        let base = Substring(stem.unicodeScalars.prefix { $0 != "." }).trimmed.uppercased()
        guard base.utf8.count <= 8 else { return false }
        if ["CON", "PRN", "AUX", "NUL", "CONIN$", "CONOUT$"].contains(base) { return true }
        let scalars = base.unicodeScalars
        guard scalars.count == 4, base.hasPrefix("COM") || base.hasPrefix("LPT"), let last = scalars.last else {
            return false
        }
        return "0123456789¹²³".unicodeScalars.contains(last)
    }

    /// Joins stem, a middle part and extension within a limit in bytes of UTF-8.
    ///
    /// The stem is cut between characters, or within a character if not even one fits.
    func joined(_ middle: String = "", within limit: Int) -> String {
        let room = max(1, limit - middle.utf8.count - ending.utf8.count)
        if stem.utf8.count <= room { return "\(stem)\(middle)\(ending)" }
        var end = stem.startIndex
        while end < stem.endIndex {
            let next = stem.index(after: end)
            if stem.utf8.distance(from: stem.startIndex, to: next) > room { break }
            end = next
        }
        if end == stem.startIndex {
            var count = 0
            end =
                stem.unicodeScalars.indices.first {
                    count += UTF8.width(stem.unicodeScalars[$0])
                    return count > room
                } ?? end
        }
        return "\(stem[..<end].trimmed)\(middle)\(ending)"
    }
}

extension Substring {
    /// The text without leading and trailing dots and spaces. Leading dots hide a file; Windows drops trailing ones.
    fileprivate var trimmed: Substring {
        let isDropped = { (scalar: Unicode.Scalar) in scalar == "." || scalar.properties.isWhitespace }
        var scalars = unicodeScalars.drop(while: isDropped)
        while let last = scalars.last, isDropped(last) { scalars.removeLast() }
        return Substring(scalars)
    }
}

extension Unicode.Scalar {
    /// True for invisible characters that change the reading of a name: controls, line separators, direction marks,
    /// zero-width spaces, tags.
    fileprivate var isDeceptive: Bool {
        switch value {
        case 0x00...0x1F, 0x7F...0x9F, 0xAD, 0x61C, 0x180E, 0x200B, 0x200E, 0x200F, 0x2028...0x202E, 0x2060...0x206F,
            0xFEFF, 0xFFF9...0xFFFB, 0xE0000...0xE007F:
            true
        default: properties.isNoncharacterCodePoint
        }
    }

    /// True if Windows does not allow the character in file names.
    fileprivate var isReserved: Bool { #"<>:"|?*"#.unicodeScalars.contains(self) }
}

// MARK: - The name that a response suggests

extension HTTPResponse {
    /// The file name that the server suggests in `Content-Disposition` (RFC 6266); nil if there is none.
    ///
    /// The name is made safe, as for a download: it is a single path component that is not hidden and has no special
    /// meaning to the system.
    public var suggestedFileName: String? {
        guard let name = ContentDisposition(of: self)?.fileName else { return nil }
        let safe = SafeFileName(name)
        // A name that consists of unsafe characters only is ignored.
        return safe.isFallback ? nil : safe.value
    }

    /// Returns a safe file name for the body: the name in `Content-Disposition`, or the decoded last component of the
    /// request's path, or `download`.
    ///
    /// - Parameter path: The path or the URL of the request. Query and fragment are ignored.
    /// - Returns: A name that is a single path component.
    package func fileName(path: String) -> String {
        suggestedFileName ?? SafeFileName(Self.lastComponent(of: path)).value
    }

    /// Returns the last component of a URL's path that is not empty, percent-decoded if the result is valid text.
    private static func lastComponent(of url: String) -> String {
        var path = url.utf8.prefix { $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") }
        if path.first != UInt8(ascii: "/"), let scheme = path.firstRange(of: "://".utf8) {
            path = path[scheme.upperBound...].drop { $0 != UInt8(ascii: "/") }
        }
        guard let component = path.split(separator: UInt8(ascii: "/")).last else { return "" }
        let decoded = PercentEncoding.decoded(component, plusIsSpace: false)
        return String(validating: decoded, as: UTF8.self) ?? String(Substring(component))
    }
}
