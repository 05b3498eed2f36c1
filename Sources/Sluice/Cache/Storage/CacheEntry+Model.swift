import SluiceHTTP

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// What was made of an entry's body last, so that the next hit need not make it again.
struct KeptModel: Sendable {
    /// What made it.
    let decoder: SharedDecoder
    let model: any Sendable
    /// What it is taken to need in memory: it cannot be measured, and has more to it than its text.
    let bytes: Int
}

extension CacheEntry {
    /// From how many bytes on decoding is worth its time to whoever wants to save memory.
    private static let modelLimit = 256 << 10

    /// The model of a body that is this entry's: what is kept if the same decoder has made it, or else a new one.
    ///
    /// What interceptors or envelopes have made of the body is another one. An object is made for each who asks: it may change.
    func model<Model: Sendable, Failure: Error>(
        of body: Data,
        by decoder: SharedDecoder,
        make: () throws(Failure) -> Model
    ) throws(Failure) -> Model {
        guard let kept, !(Model.self is AnyObject.Type), self.body.isSame(as: body) else { return try make() }
        if let known = kept.withLock({ $0 }), known.decoder === decoder, let model = known.model as? Model {
            return model
        }
        let model = try make()
        if body.count <= Self.modelLimit {
            let new = KeptModel(decoder: decoder, model: model, bytes: 3 * body.count)
            kept.withLock { $0 = new }
        }
        return model
    }

    /// What the kept model is taken to need in memory.
    var modelBytes: Int { kept?.withLock { $0?.bytes } ?? 0 }
}

extension CacheStore {
    /// Gives a response the entry that it is of, by which its model may be had.
    nonisolated func attach(_ entry: CacheEntry, to response: inout ServerResponse) {
        if configuration.keepsModels { response.entry = entry }
    }
}

extension Data {
    /// Whether both are one piece of memory, which nobody changes while two have it.
    fileprivate func isSame(as other: Data) -> Bool {
        count == other.count
            && withUnsafeBytes { bytes in other.withUnsafeBytes { $0.baseAddress == bytes.baseAddress } }
    }
}
