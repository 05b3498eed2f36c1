import SluiceHTTP

/// By what a later send finds what an earlier one has left.
struct DownloadKey {
    let text: String
    /// Whether there can be a later send: only a GET is the same each time.
    let isLasting: Bool

    init(of request: HTTPRequest) {
        isLasting = request.method == .get && request.body.isNone
        text = "\(request.method) \(request.url)" + (isLasting ? "" : " \(UInt64.random(in: .min ... .max))")
    }
}
