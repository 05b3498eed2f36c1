import SluiceHTTP

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// An entry of a cache: the bytes of a value, or a response.
///
/// The class is immutable; a cache hit copies only a reference.
public final class CacheEntry: Sendable {
    /// The key of the entry.
    public let key: CacheKey
    /// The secondary key, which distinguishes responses under one key that differ by their `Vary` fields. Empty if
    /// there is only one.
    public let variant: String
    /// The response to which the body belongs; nil for a value.
    public let response: StoredResponse?
    /// The bytes of the value or of the response body.
    public let body: Data
    /// The time at which the entry was stored.
    public let stored: Date
    /// The time at which the entry expires, unless ``renewal`` has extended its lifetime after an access; nil for
    /// never.
    public let expires: Date?
    /// The duration by which each access extends the lifetime; nil if it does not.
    public let renewal: Duration?
    /// The tags by which entries can be removed together.
    public let tags: Set<String>
    /// The model decoded from the body last. Only responses have one, because serializers never decode values.
    let kept: Locked<KeptModel?>?

    /// Creates an entry.
    ///
    /// - Parameters:
    ///   - key: The key.
    ///   - variant: The secondary key.
    ///   - response: The response to which the body belongs; nil for a value.
    ///   - body: The bytes.
    ///   - stored: The time at which the entry was stored.
    ///   - expires: The time at which the entry expires; nil for never.
    ///   - renewal: The duration by which each access extends the lifetime.
    ///   - tags: The tags by which entries can be removed together.
    public init(
        key: CacheKey,
        variant: String = "",
        response: StoredResponse? = nil,
        body: Data,
        stored: Date,
        expires: Date? = nil,
        renewal: Duration? = nil,
        tags: Set<String> = []
    ) {
        self.key = key
        self.variant = variant
        self.response = response
        self.body = body
        self.stored = stored
        self.expires = expires
        self.renewal = renewal
        self.tags = tags
        kept = response == nil ? nil : Locked(nil)
    }

    /// Returns a copy with this body.
    func with(body: Data) -> CacheEntry {
        CacheEntry(
            key: key,
            variant: variant,
            response: response,
            body: body,
            stored: stored,
            expires: expires,
            renewal: renewal,
            tags: tags
        )
    }
}

extension CacheEntry: CustomReflectable {
    /// A mirror with everything except the bytes of the body.
    public var customMirror: Mirror {
        Mirror(
            self,
            children: [
                "key": key, "response": response as Any, "body": body.shown, "stored": stored,
                "expires": expires as Any, "tags": tags.sorted(),
            ],
            displayStyle: .class
        )
    }
}
