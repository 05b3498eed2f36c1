import SluiceFoundation

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
    /// caller removes the file. Only its owner can read and write it, since the folder is often shared.
    public static var temporary: DownloadDestination {
        DownloadDestination(target: .temporary, conflict: .keepBoth, createsDirectories: true)
    }
}
