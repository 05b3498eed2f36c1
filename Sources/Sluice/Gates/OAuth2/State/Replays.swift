/// Which requests have been sent once more with a new token, as far back as matters.
struct Replays: Sendable {
    /// Those before have ended, or are too many to tell apart; one of them that is refused again costs another refresh.
    private static let limit = 256

    private var requests: [RequestID] = []

    /// Notes a request; false if it has been sent once more already.
    mutating func begin(_ request: RequestID) -> Bool {
        if let index = requests.firstIndex(of: request) {
            requests.remove(at: index)
            return false
        }
        if requests.count == Self.limit { requests.removeFirst() }
        requests.append(request)
        return true
    }
}
