#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Where a download is kept.
///
/// ```swift
/// let backup = DownloadDestination.file(URL(filePath: "/var/backups/shop.db"), ifExists: .overwrite)
/// let attachment = DownloadDestination.suggested(in: URL.downloadsDirectory)
/// ```
///
/// While it lasts, a download lies in a hidden file in the same folder; it gets its name when it is whole, all at once.
public struct DownloadDestination: Sendable, Hashable {
    /// What happens where there is something under the name already.
    public enum Conflict: Sendable, Hashable {
        /// The download fails with ``SluiceError/Code/fileExists``, at once where the name is known at once.
        case fail
        /// The file is replaced, by one step; a folder never is.
        case overwrite
        /// The download gets the next name that is free: `name 2.ext`, `name 3.ext`.
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

    /// A file of one's own choice.
    ///
    /// - Parameters:
    ///   - url: Where it will be; a symbolic link there is replaced, not followed.
    ///   - ifExists: What happens where there is something already.
    ///   - createsDirectories: Whether folders that are missing are made.
    /// - Returns: The destination.
    public static func file(
        _ url: URL,
        ifExists: Conflict = .fail,
        createsDirectories: Bool = true
    ) -> DownloadDestination {
        DownloadDestination(target: .file(url), conflict: ifExists, createsDirectories: createsDirectories)
    }

    /// The name that the server suggests by its `Content-Disposition`, or that the URL ends with, made safe, in a folder.
    ///
    /// - Parameters:
    ///   - directory: The folder.
    ///   - ifExists: What happens where there is something under the name already.
    ///   - createsDirectories: Whether folders that are missing are made.
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

    /// A name of its own in the system's folder for temporary files, with the extension of the name that the server suggests;
    /// the caller's to remove.
    public static var temporary: DownloadDestination {
        DownloadDestination(target: .temporary, conflict: .keepBoth, createsDirectories: true)
    }
}
