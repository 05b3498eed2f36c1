import Foundation

/// A file that is neither a regular file nor a folder or a symbolic link.
enum SpecialFile: CaseIterable, Sendable {
    case characterDevice, blockDevice, pipe, socket

    /// The reason in the error of a download to such a file.
    var reason: String {
        switch self {
        case .characterDevice, .blockDevice: "it is a device"
        case .pipe: "it is a named pipe"
        case .socket: "it is a socket"
        }
    }

    private var type: mode_t {
        switch self {
        case .characterDevice: S_IFCHR
        case .blockDevice: S_IFBLK
        case .pipe: S_IFIFO
        case .socket: S_IFSOCK
        }
    }

    /// Creates the file. A character device is a second name of the system's null device.
    ///
    /// - Returns: False if the user has no right to create it, as for devices of users other than root, or for sockets
    ///   by this call on Apple's platforms.
    func create(at url: URL) throws -> Bool {
        if self == .pipe {
            guard mkfifo(url.path, 0o600) == 0 else { throw CocoaError(.fileWriteUnknown) }
            return true
        }
        // The device number 1:3 as Linux encodes it.
        if mknod(url.path, type | 0o600, self == .characterDevice ? 0x103 : 0) == 0 { return true }
        // Some containers do not permit devices even to root.
        guard [EPERM, EACCES, EINVAL].contains(errno) else { throw CocoaError(.fileWriteUnknown) }
        return false
    }

    /// True if a path leads to a file of this type.
    func isPresent(at url: URL) -> Bool {
        var status = stat()
        return lstat(url.path, &status) == 0 && status.st_mode & S_IFMT == type
    }
}
