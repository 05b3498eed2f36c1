#if os(Linux)
import CCurl
import SluiceHTTP

/// How a request comes to a connection that is HTTP/2 from its first byte, without TLS.
///
/// libcurl 7.88 begins HTTP/2 anew on every connection it takes for a handle with that option, and so loses those on which it has
/// begun. So the option is only for a request that makes a connection. Others share one; where libcurl finds none for them that is
/// fit, which shows before anything is sent, they begin again.
enum PriorKnowledge {
    /// The request has no need of it.
    case none
    /// It makes a connection, which is not there yet.
    case connects
    /// It has made one.
    case connected
    /// It is to share one.
    case shares
    /// It found none.
    case missed
}

extension Exchange {
    /// Sets by which connection a request goes that is to be HTTP/2 from its first byte.
    func setPriorKnowledge(_ transfer: Transfer) {
        guard transfer.plan.httpVersion == .http2PriorKnowledge else { return }
        // One that has found none waits for nobody a second time.
        let shares = priorKnowledge != .missed && engine.cleartext.mayBeShared(to: transfer.origin)
        priorKnowledge = shares ? .shares : .connects
        if !shares { engine.cleartext.begins(to: transfer.origin) }
        handle.set(CURLOPT_FRESH_CONNECT, shares ? 0 : 1)
        // By the second it takes what is there, and asks for no upgrade.
        let version = shares ? CURL_HTTP_VERSION_2TLS : CURL_HTTP_VERSION_2_PRIOR_KNOWLEDGE
        handle.set(CURLOPT_HTTP_VERSION, Int(version))
        setWaiting(shares)
    }

    /// Whether the connection that libcurl is about to use for the request is the kind it needs.
    func isPriorKnowledgeMet(_ transfer: Transfer, from port: UInt16) -> Bool {
        switch priorKnowledge {
        case .none, .connected, .missed: return true
        case .connects:
            priorKnowledge = .connected
            engine.cleartext.ends(to: transfer.origin, port: port)
            return true
        case .shares:
            if engine.cleartext.contains(port, to: transfer.origin) { return true }
            priorKnowledge = .missed
            return false
        }
    }

    /// Forgets what the transfer wanted, which may have ended before its connection was made.
    func endPriorKnowledge() {
        if priorKnowledge == .connects, let transfer { engine.cleartext.ends(to: transfer.origin, port: nil) }
        priorKnowledge = .none
    }

    /// Sets the handle up to begin again, if the transfer ended only since the connection was none for it.
    func mayBeginAgain() -> Bool {
        guard priorKnowledge == .missed, let transfer else { return false }
        setPriorKnowledge(transfer)
        return handle.failure == CURLE_OK
    }
}
#endif
