import SluiceHTTP

/// What a cache does with a response that has come for a ``CacheForwarding``.
struct CacheReception: Sendable {
    /// What the one who asked is given.
    enum Answer: Sendable {
        /// This head, and the body that comes.
        case response(HTTPResponse)
        /// What is stored; the body that comes, if any, is dropped.
        case stored(CacheServing)
        /// This head, and a body put together of what is stored and what comes, if as many bytes come as ``CacheReception/receivedCount``
        /// says; if not, it is cut short.
        case combined(HTTPResponse, CacheBody)
        /// Nothing yet: what came is of no use, and this is to be sent instead.
        case again(CacheForwarding)
    }

    var answer: Answer
    /// How many bytes must come for what is put together to be whole; nil where nothing is.
    var receivedCount: Int64?
    /// What is to be kept, each in the place of what is there of its variant; at most one of them takes the body that comes.
    var storing: [CacheStoring] = []
    /// The variants under the request's own name that are to be removed; none of those that are kept.
    var removing: [String] = []
    /// The names under which everything is to be removed, in the request's partition (RFC 9111 §4.4).
    var invalidating: [String] = []
}

/// A response to be kept.
struct CacheStoring: Sendable {
    /// Under which variant.
    let variant: String
    let response: StoredResponse
    let body: CacheBody
    /// How many bytes must come for it to be kept; nil for as many as there are.
    var receivedCount: Int64?
}

/// Where the bytes of a body are from.
enum CacheBody: Sendable {
    /// One run of bytes.
    enum Piece: Sendable, Hashable {
        /// These of the stored body, counted from its first.
        case stored(Range<Int>)
        /// All that come.
        case received
    }

    /// What comes.
    case received
    /// What is stored with an entry.
    case stored(CacheEntry)
    /// Pieces in their order, those that are stored an entry's.
    case combined([Piece], CacheEntry)
}
