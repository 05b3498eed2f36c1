import SluiceHTTP

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// What a cache keeps under a key: the bytes of a value, or a response.
///
/// A class that never changes, so that a hit copies a pointer.
public final class CacheEntry: Sendable {
    /// Under what it is kept.
    public let key: CacheKey
    /// What tells it apart from other entries under its key, responses that differ by what `Vary` names; empty where there is one only.
    public let variant: String
    /// What the bytes are the body of; nil for a value.
    public let response: StoredResponse?
    /// The bytes.
    public let body: Data
    /// When it was kept.
    public let stored: Date
    /// When it is gone, unless it was asked for since it was kept or read from storage and ``renewal`` puts that off; nil for never.
    public let expires: Date?
    /// For how long each access puts that off; nil where it does not.
    public let renewal: Duration?
    /// By what it can be removed together with others.
    public let tags: Set<String>
    /// What was made of a response's body last; values are never decoded by serializers.
    let kept: Locked<KeptModel?>?

    /// Makes an entry.
    ///
    /// - Parameters:
    ///   - key: Under what it is kept.
    ///   - variant: What tells it apart from others under the key.
    ///   - response: What the bytes are the body of.
    ///   - body: The bytes.
    ///   - stored: When it was kept.
    ///   - expires: When it is gone; nil for never.
    ///   - renewal: For how long each access puts that off.
    ///   - tags: By what it can be removed together with others.
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

    /// The same entry with these bytes.
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
    /// All but the bytes.
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
