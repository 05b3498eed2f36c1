import SluiceFoundation

/// The model that was last decoded from a stored body, for the next cache hit.
package final class StoredModel: Sendable {
    /// The maximum size in bytes of a body whose model is stored. Larger models cost too much memory.
    private static let maximumBodySize = 256 << 10

    private let body: Data
    private let decoded = Locked<(any DecodedModel)?>(nil)

    package init(of body: Data) {
        self.body = body
    }

    /// The estimated memory size of the stored model in bytes; 0 if there is none.
    package var bytes: Int { decoded.withLock { $0?.bytes } ?? 0 }

    /// Returns the model of a body: the stored model if the body is the stored one and the decoder is the same,
    /// otherwise a new one.
    ///
    /// A body changed by interceptors or envelopes always produces a new model. So does a model that is an object,
    /// because it may be mutable.
    package func model<Model: Sendable, Failure: Error>(
        of body: Data,
        by decoder: any AnyObject & Sendable,
        make: () throws(Failure) -> Model
    ) throws(Failure) -> Model {
        guard !(Model.self is AnyObject.Type), self.body.isSame(as: body) else { return try make() }
        if let last = decoded.withLock({ $0 }) as? Decoded<Model>, last.decoder === decoder { return last.model }
        let model = try make()
        if body.count <= Self.maximumBodySize {
            let new = Decoded(decoder: decoder, model: model, bytes: 3 * body.count)
            decoded.withLock { $0 = new }
        }
        return model
    }
}

private protocol DecodedModel: AnyObject, Sendable {
    /// The estimated memory size of the model in bytes, because it cannot be measured.
    var bytes: Int { get }
}

/// A decoded model and the decoder that produced it. A class, because it takes less time to check than the type of a value.
private final class Decoded<Model: Sendable>: DecodedModel {
    let decoder: any AnyObject & Sendable
    let model: Model
    let bytes: Int

    init(decoder: any AnyObject & Sendable, model: Model, bytes: Int) {
        self.decoder = decoder
        self.model = model
        self.bytes = bytes
    }
}

extension Data {
    /// True if both share the same memory, which is immutable while it is shared.
    fileprivate func isSame(as other: Data) -> Bool {
        count == other.count
            && withUnsafeBytes { bytes in other.withUnsafeBytes { $0.baseAddress == bytes.baseAddress } }
    }
}
