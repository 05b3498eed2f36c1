import SluiceHTTP

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The model decoded from the body of an entry, kept for the next cache hit.
struct CachedModel: Sendable {
    /// The decoder that produced the model.
    let decoder: SharedDecoder
    let model: any Sendable
    /// The estimated memory size of the model in bytes, because it cannot be measured.
    let bytes: Int
}

extension CacheEntry {
    /// The maximum size in bytes of a body whose model is kept. Larger models cost too much memory.
    private static let modelLimit = 256 << 10

    /// Returns the model of a body: the kept model if the body is that of this entry and the decoder is the same,
    /// otherwise a new one.
    ///
    /// A body changed by interceptors or envelopes always produces a new model. So does a model that is an object,
    /// because it may be mutable.
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
            let new = CachedModel(decoder: decoder, model: model, bytes: 3 * body.count)
            kept.withLock { $0 = new }
        }
        return model
    }

    /// The estimated memory size of the kept model in bytes.
    var modelBytes: Int { kept?.withLock { $0?.bytes } ?? 0 }
}

extension CacheStore {
    /// Attaches an entry to the response made from it, so that its model can be reused.
    nonisolated func attach(_ entry: CacheEntry, to response: inout ServerResponse) {
        if configuration.keepsModels { response.entry = entry }
    }
}

extension Data {
    /// True if both share the same memory, which is immutable while it is shared.
    fileprivate func isSame(as other: Data) -> Bool {
        count == other.count
            && withUnsafeBytes { bytes in other.withUnsafeBytes { $0.baseAddress == bytes.baseAddress } }
    }
}
