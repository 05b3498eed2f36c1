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
        case EDQUOT: SluiceError(.insufficientSpace, "There is not enough disk quota left for “\(path)”.", step: .file)
        default: cannotWrite(path, String(cString: strerror(error)))
        }
    }

    static func cannotWrite(_ path: String, _ reason: String) -> SluiceError {
        SluiceError(.cannotWriteFile, "The file “\(path)” cannot be written: \(reason).", step: .file)
    }

    static func partWasReplaced(_ path: String) -> SluiceError {
        cannotWrite(path, "its partial file was removed or replaced by another program")
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
        SluiceError(
            .insufficientSpace,
            "“\(path)” requires \(needed) bytes, but the disk has only \(free) bytes left.",
            step: .file
        )
    }

    static func fileExists(_ path: String) -> SluiceError {
        SluiceError(
            .fileExists,
            "“\(path)” already exists. Choose another name, overwrite the file, or keep both.",
            step: .file
        )
    }

    static func lengthMismatch(_ path: String, _ count: Int64, of length: Int64?) -> SluiceError {
        SluiceError(
            .lengthMismatch,
            length.map { "“\(path)” has \(count) of the \($0) announced bytes." }
                ?? "“\(path)” has \(count) bytes, and some bytes before its end are missing.",
            step: .file
        )
    }

    static func checksumMismatch(_ path: String) -> SluiceError {
        SluiceError(
            .checksumMismatch,
            "The SHA-256 checksum of “\(path)” does not match. The file was removed. Try again, or use another server.",
            step: .file
        )
    }
}
