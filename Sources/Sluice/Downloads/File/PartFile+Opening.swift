import Dispatch
import SluiceHTTP

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

extension PartFile {
    /// The queue for work on folders and files before a partial file is open.
    private static let opening = DispatchQueue(label: "sluice.parts", attributes: .concurrent)

    /// Opens or creates the partial file of a download.
    ///
    /// The partial file is used by one sender at a time. If another process or sender holds it, a fresh one is used,
    /// which is removed unless it becomes complete. If the holder is a sender of this process that is about to end, the
    /// call waits for it, so that a send right after a cancellation can resume.
    ///
    /// - Parameters:
    ///   - key: The key that sends of the same download share: the method and the URL.
    ///   - destination: The place for the download.
    ///   - lease: The lease of the sender.
    /// - Returns: The partial file, with the reliable bytes of an earlier send.
    /// - Throws: `cannotWriteFile`, `fileExists`, `insufficientSpace`, or `cancelled`.
    static func open(
        key: String,
        destination: DownloadDestination,
        lease: PartLease
    ) async throws(SluiceError) -> PartFile {
        let place = try PartPlace(key: key, destination: destination)
        try await opening.result { Result { () throws(SluiceError) in try place.prepare() } }.get()
        guard try await PartClaims.shared.claim(place.part, for: lease) else {
            return try await opening.result { Result { () throws(SluiceError) in try fresh(beside: place) } }.get()
        }
        return try await opening.result { () -> Result<PartFile, SluiceError> in
            let opened = Result { () throws(SluiceError) in try claimed(place, by: lease) }
            // Release the claim if it is not used. A partial file with a lease releases its claim itself.
            if (try? opened.get())?.lease == nil { PartClaims.shared.release(place.part, from: lease) }
            return opened
        }.get()
    }

    private static func claimed(_ place: PartPlace, by lease: PartLease) throws(SluiceError) -> PartFile {
        guard case .opened(let descriptor) = PartDescriptor.open(place.part, isNew: false) else {
            return try fresh(beside: place)
        }
        let part = PartFile(location: place, descriptor: descriptor, lease: lease)
        let error = part.recall()
        guard error == 0 else { throw .cannotWrite(part.subject, error) }
        return part
    }

    /// Creates a partial file for this sender only, because the usual one is in use or is not a usable file.
    private static func fresh(beside place: PartPlace) throws(SluiceError) -> PartFile {
        let place = place.unique
        switch PartDescriptor.open(place.part, isNew: true) {
        case .opened(let descriptor): return PartFile(location: place, descriptor: descriptor, lease: nil)
        case .held: throw .cannotUseFolder(place.folder, EBUSY)
        case .failed(let error): throw .cannotUseFolder(place.folder, error)
        }
    }
}
