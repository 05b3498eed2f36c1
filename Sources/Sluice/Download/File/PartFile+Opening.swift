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
    /// For folders and files that are not yet a part's.
    private static let opening = DispatchQueue(label: "sluice.parts", attributes: .concurrent)

    /// Opens the part of a download, or makes one.
    ///
    /// It is this sender's alone. Where another process or sender holds it, a fresh one is used, which is removed if it does not
    /// become whole; only for a sender of this process that is about to end is waited, so that what follows a cancellation at
    /// once goes on where that one left off.
    ///
    /// - Parameters:
    ///   - key: What is the same for sends that resume each other: the method and the URL.
    ///   - destination: Where the download is to be kept.
    ///   - lease: The sender's.
    /// - Returns: The part, with what can be relied on of an earlier send's.
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
            // Where it was of no use; a part that has it gives it back itself.
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

    /// A part for this sender only: the usual one is in use, or is something else than a part.
    private static func fresh(beside place: PartPlace) throws(SluiceError) -> PartFile {
        let place = place.unique
        switch PartDescriptor.open(place.part, isNew: true) {
        case .opened(let descriptor): return PartFile(location: place, descriptor: descriptor, lease: nil)
        case .held: throw .cannotUseFolder(place.folder, EBUSY)
        case .failed(let error): throw .cannotUseFolder(place.folder, error)
        }
    }
}
