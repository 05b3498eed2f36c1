#if os(Linux)
import CCurl
import SluiceEngine
import SluiceHTTP

/// What has come of asking the server whether it wants the body (RFC 9110 §10.1.1).
enum Expectation {
    /// Nothing was asked, or it has been answered.
    case none
    case asked
    /// The server knows no such question (417): libcurl sends the request again without it, and what came is not the response.
    case contradicted
}

extension Exchange {
    /// Has libcurl hold the body back until the server asks for it, answers otherwise, or says nothing for too long.
    func askBeforeSending(_ wait: Duration) {
        expectation = .asked
        let milliseconds = max(1, min(wait.nanoseconds / 1_000_000, Int64(Int32.max)))
        handle.set(CURLOPT_EXPECT_100_TIMEOUT_MS, Int(milliseconds))
        // libcurl writes the field itself; of several ways to send a body this is the one for which it always does.
    }

    /// Takes in the head of a final response; whether another response will follow.
    func isContradiction(_ head: HTTPResponse) -> Bool {
        switch expectation {
        case .none:
            return false
        case .contradicted:
            return true
        case .asked:
            // Over HTTP/2 nothing was asked after all.
            let wasAsked = head.version == .http1_1 || head.version == .http1_0
            expectation = wasAsked && head.status == 417 && !hasSentAll ? .contradicted : .none
            // The body was announced and will not come: what goes by this connection next would be taken for it. libcurl sees to
            // that itself where the status is an error.
            if wasAsked, sent == 0, head.status.isSuccess { setReuse(isForbidden: true) }
            wasContradicted = expectation == .contradicted
            return wasContradicted
        }
    }

    func setReuse(isForbidden: Bool) {
        guard isForbidden != forbidsReuse else { return }
        forbidsReuse = isForbidden
        handle.set(CURLOPT_FORBID_REUSE, isForbidden ? 1 : 0)
    }
}

extension HTTPHeaders {
    /// Whether the server is to be asked before the body is sent.
    var expectsContinue: Bool {
        self[.expect].map { $0.utf8.elementsEqual("100-continue".utf8) { $0.asciiLowercased == $1 } } ?? false
    }
}

extension UploadSource {
    /// Whether there may be anything to hold back: a request without content must not ask.
    var mayHaveContent: Bool {
        switch self {
        case .none: false
        case .data(let data): !data.isEmpty
        case .stream(_, let length, _): length != 0
        }
    }
}

extension RequestPriority {
    /// Its share of an HTTP/2 connection, from 1 to 256; 16 is the protocol's own default (RFC 7540 §5.3.2).
    var streamWeight: Int {
        switch self {
        case .low: 1
        case .normal: 16
        case .high: 256
        }
    }
}
#endif
