import SluiceFoundation
import SluiceHTTP

/// The result of processing a response to a ``ConditionalRequest``.
package struct CacheUpdate: Sendable {
    /// The answer to the caller.
    package enum Answer: Sendable {
        /// The response with this head and the received body.
        case response(HTTPResponse)
        /// The stored response. The received body, if any, is dropped.
        case stored(ServableResponse)
        /// This head with a body combined from stored and received bytes. The body is truncated if fewer bytes are
        /// received than ``CacheUpdate/receivedCount``.
        case combined(HTTPResponse, CacheBody)
        /// No answer yet: the response is unusable, and this request has to be sent instead.
        case again(ConditionalRequest)
    }

    package var answer: Answer
    /// The number of bytes that must be received to complete a combined body; nil for other answers.
    package var receivedCount: Int64?
    /// The responses to store. Each replaces the stored response of the same variant. At most one of them uses the
    /// received body.
    package var storing: [StorableResponse] = []
    /// The variants of the request's cache key to remove. None of them is also in ``storing``.
    package var removing: [String] = []
    /// The cache keys to invalidate in the request's partition (RFC 9111 §4.4).
    package var invalidating: [String] = []

    /// Stores a response in the place of an entry; removes the entry if `storing` is nil.
    mutating func add(_ storing: StorableResponse?, inPlaceOf entry: CacheEntry) {
        if let storing, !self.storing.contains(where: { $0.variant == storing.variant }) {
            self.storing.append(storing)
            removing.removeAll { $0 == storing.variant }
        }
        let isKept = self.storing.contains { $0.variant == entry.variant }
        if !isKept, !removing.contains(entry.variant) { removing.append(entry.variant) }
    }
}

extension CacheUpdate {
    /// The maximum number of responses stored under one cache key. A lookup reads all of them.
    static let variantLimit = 16

    /// Removes the oldest stored responses that would exceed the limit.
    ///
    /// - Parameter stored: The responses stored under the cache key, newest first.
    mutating func limitVariants(of stored: [CacheEntry]) {
        guard !storing.isEmpty, stored.count + storing.count > Self.variantLimit else { return }
        let kept = stored.map(\.variant).filter { variant in
            !removing.contains(variant) && !storing.contains { $0.variant == variant }
        }
        removing += kept.dropFirst(max(0, Self.variantLimit - storing.count))
    }
}

/// A response to store.
package struct StorableResponse: Sendable {
    /// The variant to store the response under.
    package let variant: String
    package let response: StoredResponse
    package let body: CacheBody
    /// The number of bytes that must be received for the response to be stored; nil for any number.
    package var receivedCount: Int64?

    /// True if the body includes received bytes.
    package var includesReceivedBytes: Bool {
        switch body {
        case .received: true
        case .stored: false
        case .combined(let pieces, _): pieces.contains(.received)
        }
    }

    /// True if the body consists of the received bytes only.
    package var isStreamable: Bool {
        if case .received = body { true } else { false }
    }
}

/// The source of the bytes of a body.
package enum CacheBody: Sendable {
    /// A contiguous run of bytes.
    package enum Piece: Sendable, Hashable {
        /// These bytes of the stored body, as offsets from its start.
        case stored(Range<Int>)
        /// All received bytes.
        case received
    }

    /// The received body.
    case received
    /// The body stored with an entry.
    case stored(CacheEntry)
    /// The pieces in order; stored pieces come from the entry.
    case combined([Piece], CacheEntry)

    /// Returns the bytes of the body.
    package func bytes(received: Data) -> Data {
        switch self {
        case .received: return received
        case .stored(let entry): return entry.body
        case .combined(let pieces, let entry):
            var bytes = Data()
            for piece in pieces {
                switch piece {
                case .received: bytes.append(received)
                case .stored(let range):
                    let range = range.clamped(to: 0..<entry.body.count)
                    let start = entry.body.startIndex
                    bytes.append(entry.body[start + range.lowerBound..<start + range.upperBound])
                }
            }
            return bytes
        }
    }
}
