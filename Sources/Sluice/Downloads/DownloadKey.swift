import SluiceHTTP

/// The key under which a later send finds the partial file of an earlier one.
struct DownloadKey {
    let text: String
    /// True if a later send can resume the download. Only a GET without a body is repeatable.
    let isLasting: Bool

    init(of request: HTTPRequest) {
        isLasting = request.method == .get && request.body.isNone
        text = "\(request.method) \(request.url)" + (isLasting ? "" : " \(UInt64.random(in: .min ... .max))")
    }
}
