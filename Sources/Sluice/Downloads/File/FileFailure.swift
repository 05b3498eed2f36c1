import SluiceHTTP

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

extension SluiceError.Code {
    /// A file with the name of a download already exists.
    public static let fileExists = Self("fileExists")
    /// A download's file or folder cannot be written.
    public static let cannotWriteFile = Self("cannotWriteFile")
    /// The disk or the user's quota does not have enough space for a download.
    public static let insufficientSpace = Self("insufficientSpace")
    /// A download has more or fewer bytes than announced.
    public static let lengthMismatch = Self("lengthMismatch")
    /// A download does not have the required checksum.
    public static let checksumMismatch = Self("checksumMismatch")
}

extension SluiceError {
    /// Creates an error from the `errno` of a file operation.
    static func cannotWrite(_ path: String, _ error: Int32) -> SluiceError {
        switch error {
        case ENOSPC: SluiceError(.insufficientSpace, "There is no space left for “\(path)”.", step: .file)
        case EDQUOT: SluiceError(.insufficientSpace, "The quota of disk space has no room for “\(path)”.", step: .file)
        default: cannotWrite(path, String(cString: strerror(error)))
        }
    }

    static func cannotWrite(_ path: String, _ reason: String) -> SluiceError {
        SluiceError(.cannotWriteFile, "The file “\(path)” cannot be written: \(reason).", step: .file)
    }

    static func cannotUseFolder(_ path: String, _ error: Int32) -> SluiceError {
        if error == ENOSPC || error == EDQUOT { return cannotWrite(path, error) }
        return SluiceError(
            .cannotWriteFile,
            "The folder “\(path)” cannot be used: \(String(cString: strerror(error))).",
            step: .file
        )
    }

    static func insufficientSpace(_ path: String, needed: Int64, free: Int64) -> SluiceError {
        SluiceError(.insufficientSpace, "“\(path)” needs \(needed) bytes, and the disk has \(free) left.", step: .file)
    }

    static func fileExists(_ path: String) -> SluiceError {
        SluiceError(
            .fileExists,
            "There is “\(path)” already; choose another name, or have it overwritten or both kept.",
            step: .file
        )
    }

    static func lengthMismatch(_ path: String, _ count: Int64, of length: Int64?) -> SluiceError {
        SluiceError(
            .lengthMismatch,
            length.map { "“\(path)” has \(count) bytes of the \($0) that were announced." }
                ?? "“\(path)” has \(count) bytes, and some between them are missing.",
            step: .file
        )
    }

    static func checksumMismatch(_ path: String) -> SluiceError {
        SluiceError(
            .checksumMismatch,
            "“\(path)” is not what was asked for: its SHA-256 is another. It was removed; try again, or from another server.",
            step: .file
        )
    }
}
