import SluiceHTTP

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension PartFile {
    /// Renames the download to its final name, once it is complete, synced and verified.
    ///
    /// - Parameters:
    ///   - expected: The required SHA-256, in hexadecimal digits of either case; nil to accept any file.
    ///   - reportsSHA256: True to compute the SHA-256 even if none is required.
    /// - Returns: The file at its destination.
    /// - Throws: `lengthMismatch`; `checksumMismatch`, and the partial file is removed; `fileExists`, and the partial
    ///   file is kept complete for a send with another conflict rule; `cannotWriteFile`, `insufficientSpace`;
    ///   `cancelled` while the checksum is computed.
    func place(
        sha256 expected: String? = nil,
        reportsSHA256: Bool = false
    ) async throws(SluiceError) -> DownloadedFile {
        let length = try await perform(flags: .barrier) { part throws(SluiceError) in try part.wholeLength() }
        var digest: String?
        if expected != nil || reportsSHA256 { digest = try await sha256(upTo: length) }
        if let expected, expected.lowercased() != digest {
            let error = SluiceError.checksumMismatch(subject)
            await discard()
            throw error
        }
        return try await perform(flags: .barrier) { [digest] part throws(SluiceError) in
            try part.putInPlace(length, sha256: digest)
        }
    }

    /// Returns the length of the whole file, if all of it is there.
    private func wholeLength() throws(SluiceError) -> Int64 {
        let (completed, known) = state.withLock { ($0.completed, $0.resource?.length) }
        let length = known ?? completed.end
        guard completed.prefix == length, completed.end == length else {
            throw .lengthMismatch(subject, completed.count, of: known)
        }
        // Another program may have truncated the file.
        let actual = descriptor.length ?? 0
        guard actual >= length else { throw .lengthMismatch(subject, actual, of: length) }
        return length
    }

    private func sha256(upTo length: Int64) async throws(SluiceError) -> String {
        let isCancelled = Locked(false)
        let work = { @Sendable (part: PartFile) throws(SluiceError) -> String in
            var offset: Int64 = 0
            let digest = try SystemSHA256.digest { buffer throws(SluiceError) in
                if isCancelled.withLock({ $0 }) { throw .cancelled }
                let rest = UnsafeMutableRawBufferPointer(rebasing: buffer.prefix(Int(clamping: length - offset)))
                let count = part.descriptor.read(into: rest, at: offset)
                guard count >= 0 else { throw .cannotWrite(part.subject, Int32(clamping: -count)) }
                offset += Int64(count)
                return count
            }
            guard let digest else {
                throw SluiceError(.unsupported, "SHA-256 cannot be had from the system's library.", step: .file)
            }
            return HexText.text(length: 64) { text in for byte in digest { text.append(UInt64(byte), digits: 2) } }
        }
        do {
            return try await withTaskCancellationHandler {
                try await perform(work)
            } onCancel: {
                isCancelled.withLock { $0 = true }
            }
        } catch let error as SluiceError {
            throw error
        } catch {
            throw SluiceError(
                .internalFailure,
                "The checksum of “\(subject)” could not be taken.",
                underlyingError: error
            )
        }
    }

    /// Syncs the file and renames it. Must run alone.
    private func putInPlace(_ length: Int64, sha256: String?) throws(SluiceError) -> DownloadedFile {
        var error = state.withLock { $0.failure }
        if error == 0, descriptor.length != length { error = descriptor.setLength(length) }
        if error == 0, let mode = location.fileMode { error = descriptor.setMode(mode) }
        if error == 0 {
            error = descriptor.sync()
            if error != 0 { state.withLock { [error] in $0.failure = error } }
        }
        guard error == 0 else { throw .cannotWrite(subject, error) }
        let (resource, resumed) = state.withLock { ($0.resource, $0.resumed) }
        let path: String
        do throws(SluiceError) {
            path = try location.place(resource)
        } catch {
            // The file remains a partial file, readable by its owner only.
            _ = descriptor.setMode(0o600)
            throw error
        }
        SystemFile.syncFolder(of: path)
        location.removeJournal()
        finish()
        return DownloadedFile(
            url: URL(filePath: path, directoryHint: .notDirectory),
            length: length,
            resumedBytes: resumed,
            sha256: sha256
        )
    }
}
