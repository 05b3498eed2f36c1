#if os(Linux)
import SluiceHTTP

/// The effects of a turn, which are performed after the lock of the connection is released.
struct HTTP2Effects {
    var answers: [(call: Call, result: Result<TransportResponse, SluiceError>)] = []
    var bodyEnds: [Transaction.BodyEnd] = []
    /// The number of released request slots.
    var released = 0
    var resends: [Call] = []
    /// Requests that must be sent with HTTP/1.1 (RFC 9113 §7).
    var downgrades: [Call] = []
    /// A changed maximum number of concurrent requests, to pass to the pool.
    var capacity: Int?
    /// True to remove the connection from the pool.
    var leavesPool = false
    /// True if the socket was closed in this turn.
    var isClosed = false
    /// True if the socket was closed in this turn or an earlier one. The connection is then not registered on the loop.
    var isGone = false
    var setsTimer = false
    var wantsTurn = false
}
#endif
