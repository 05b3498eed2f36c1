#if os(Linux)
import SluiceHTTP

/// The effects of a turn of a connection of HTTP/2, which follow once its lock is free.
struct HTTP2Effects {
    var answers: [(call: Call, result: Result<TransportResponse, SluiceError>)] = []
    var bodyEnds: [Transaction.BodyEnd] = []
    /// The requests whose slots are free.
    var released = 0
    var resends: [Call] = []
    /// Requests that their server wants by HTTP/1.1.
    var downgrades: [Call] = []
    /// The requests at a time that the pool does not know of yet.
    var capacity: Int?
    /// The pool gives the connection no further request.
    var leavesPool = false
    var isClosed = false
    /// The socket is closed, so that the loop does not know the connection any more.
    var isGone = false
    var timer: MonotonicTime?
    var wantsTurn = false
}
#endif
