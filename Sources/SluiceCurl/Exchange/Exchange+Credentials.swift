#if os(Linux)
import CCurl
import SluiceEngine
import SluiceHTTP

/// A 401 of which it is not known yet whether libcurl answers it or the caller gets it.
enum Challenge {
    case none
    /// A body that has been read has to be read again before the answer.
    case underWay(owesRewind: Bool)

    var isUnderWay: Bool {
        if case .underWay = self { true } else { false }
    }

    var mayBeAnswered: Bool {
        if case .underWay(owesRewind: true) = self { false } else { true }
    }

    mutating func rewound() {
        if isUnderWay { self = .underWay(owesRewind: false) }
    }
}

extension Exchange {
    /// Whether libcurl may have an answer to a status: the server's challenge, or that of a proxy that passes requests on.
    func isChallenge(_ status: HTTPStatus) -> Bool {
        status == .unauthorized && hasCredentials
            || status == 407 && plan?.proxy?.credentials != nil
    }

    /// How often one server may ask in one transfer: once, once more where its nonce has become stale, and some.
    static let maximumAnswers = 4

    /// Has libcurl answer challenges. With one method alone it does not wait to be asked; of several it waits for the server's choice.
    func setCredentials(_ credentials: ChallengeCredentials, _ transfer: Transfer) {
        var methods = 0
        if credentials.methods.contains(.basic) { methods |= sluice_auth_basic }
        if credentials.methods.contains(.digest) { methods |= sluice_auth_digest }
        guard methods != 0 else { return }
        hasCredentials = true
        handle.set(CURLOPT_HTTPAUTH, methods)
        handle.set(CURLOPT_USERNAME, string: credentials.user)
        handle.set(CURLOPT_PASSWORD, string: credentials.password)
        // Answers count as redirects, of which it follows no others.
        handle.set(CURLOPT_MAXREDIRS, Exchange.maximumAnswers)
        // Asked in the middle of a body, libcurl goes on sending it to no purpose. Over HTTP/2 a server need not take it, and
        // neither side has anything more to say; over HTTP/1.1 it begins anew on another connection.
        let mayChoose = transfer.plan.httpVersion != .http2PriorKnowledge
        if mayChoose, credentials.methods != .basic,
            transfer.upload.isStreamed(asking: transfer.request.headers.expectsContinue)
        {
            setVersion(Int(CURL_HTTP_VERSION_1_1))
        }
    }
}

extension UploadSource {
    /// Whether it goes out in pieces behind the head.
    fileprivate func isStreamed(asking: Bool) -> Bool {
        switch self {
        case .none: false
        case .data(let data): data.count > Exchange.inlineBody || asking && !data.isEmpty
        case .stream: true
        }
    }
}

extension SluiceError {
    static var bodyNotRewound: SluiceError {
        SluiceError(
            .bodyNotReplayable,
            "The server asked for credentials when a part of the body was on its way already."
        )
    }
}
#endif
