#if os(Linux)
import CCurl
import CSSL
import SluiceHTTP

/// What a request needs of its connection for the sake of the version.
///
/// libcurl 7.88 takes connections of all versions for one another. It begins HTTP/2 anew on any without TLS that it takes for a handle
/// with prior knowledge, and so loses those on which it has begun; and by one of HTTP/1 it may send two requests at once if it knows
/// the host for one of HTTP/2. So the connection is looked at before anything is sent. If it is not fit, the request begins again, and
/// that connection closes once nobody uses it, lest it is found time and again.
enum ConnectionNeed {
    /// What libcurl finds is looked at.
    case fit
    /// It makes a connection of HTTP/2 without TLS, which is not there yet.
    case cleartext
    /// It has made one.
    case connected
    /// It is to share one.
    case shared
    /// What libcurl found was not fit.
    case missed
    /// It has one that nobody had before and that nobody has after it.
    case alone
}

extension Exchange {
    /// Sets by which version a request goes, and by which connection.
    func setVersion(_ transfer: Transfer) {
        let (choice, isSecure) = (transfer.plan.httpVersion, transfer.origin.scheme == "https")
        let isAnew = need == .missed
        need = .fit
        var version = CURL_HTTP_VERSION_1_1
        switch choice {
        // libcurl's own choice: HTTP/2 over TLS, as far as it was built with it.
        case .automatic where isSecure: version = CURL_HTTP_VERSION_NONE
        case .http2PriorKnowledge where isSecure || transfer.plan.unixSocket != nil || transfer.mayAnswerChallenges:
            version = CURL_HTTP_VERSION_2_PRIOR_KNOWLEDGE
            // By a connection that cannot be recognised, or by which libcurl asks again, nobody else can go.
            if !isSecure { need = .alone }
        case .http2PriorKnowledge:
            let shares = mayShareCleartext(to: transfer.origin)
            need = shares ? .shared : .cleartext
            if !shares { engine.versions.beginCleartext(to: transfer.origin) }
            // By the first it takes what is there, and asks for no upgrade.
            version = shares ? CURL_HTTP_VERSION_2TLS : CURL_HTTP_VERSION_2_PRIOR_KNOWLEDGE
        case .automatic, .http1: break
        }
        let isAlone = need == .alone || transfer.plan.isAlone
        setReuse(isForbidden: isAlone)
        setConnecting(isAnew: isAlone || need == .cleartext || isAnew && need != .shared)
        setVersion(Int(version))
        // TLS tells once a connection stands whether it can be shared. Without it only the answer to the first request would.
        setWaiting(need == .shared || isSecure && choice != .http1)
    }

    private func mayShareCleartext(to origin: HTTPOrigin) -> Bool {
        switch misses {
        case 0: engine.versions.mayShareCleartext(to: origin)
        // Where a connection has ended all who went by it miss it at once, and wait for the first of them.
        case 1...3: engine.versions.isConnectingCleartext(to: origin)
        default: false
        }
    }

    /// Sets the version that libcurl is to speak, unless the handle has it.
    func setVersion(_ version: Int) {
        guard version != self.version else { return }
        self.version = version
        handle.set(CURLOPT_HTTP_VERSION, version)
    }

    private func setConnecting(isAnew: Bool) {
        guard isAnew != connectsAnew else { return }
        connectsAnew = isAnew
        handle.set(CURLOPT_FRESH_CONNECT, isAnew ? 1 : 0)
    }

    private func setWaiting(_ waits: Bool) {
        guard waits != waitsForConnection else { return }
        waitsForConnection = waits
        handle.set(CURLOPT_PIPEWAIT, waits ? 1 : 0)
    }

    /// Whether the connection by which the request is about to go has been made.
    ///
    /// libcurl 7.88 shares one for HTTP/2 while its tunnel, and the TLS within, are still being made: the request would fail there, or be the
    /// proxy's to read. Whoever makes a connection comes here once it stands.
    func isMade(_ transfer: Transfer) -> Bool {
        guard transfer.origin.scheme == "https", Handshake.isObservable else { return true }
        guard let ssl = sluice_easy_openssl(handle.raw).map(OpaquePointer.init) else { return miss() }
        guard let made = Handshake.of(SSL_get_SSL_CTX(ssl)) else { return SSL_is_init_finished(ssl) == 1 || miss() }
        if made === handshake { made.hasMadeConnection = true }
        return made.hasMadeConnection || miss()
    }

    /// Whether the connection by which the request is about to go is fit for it.
    func isFit(_ transfer: Transfer, from port: UInt16) -> Bool {
        switch need {
        case .alone, .missed: return true
        case .cleartext:
            need = .connected
            engine.versions.endCleartext(to: transfer.origin)
            engine.versions.noteCleartext(port, to: transfer.origin)
            return true
        case .connected:
            // By another than before, since nothing came by that.
            guard !engine.versions.isCleartext(port, to: transfer.origin) else { return fail(.begunTwice) }
            engine.versions.noteCleartext(port, to: transfer.origin)
            return true
        case .shared: return engine.versions.isCleartext(port, to: transfer.origin) || miss()
        case .fit: return transfer.origin.scheme != "https" || isFitWithTLS(transfer, from: port)
        }
    }

    private func isFitWithTLS(_ transfer: Transfer, from port: UInt16) -> Bool {
        if version == Int(CURL_HTTP_VERSION_1_1) {
            engine.versions.noteHTTP1(port)
            return true
        }
        if transfer.plan.httpVersion == .http2PriorKnowledge, Handshake.isObservable,
            let ssl = sluice_easy_openssl(handle.raw).map(OpaquePointer.init), sluice_tls_speaks_http2(ssl) == 0
        {
            return connectsAnew ? fail(.otherVersion) : miss()
        }
        return !engine.versions.isHTTP1(port) || connectsAnew || miss()
    }

    private func miss() -> Bool {
        guard misses < 8 else { return fail(.noneFit) }
        need = .missed
        misses += 1
        setReuse(isForbidden: true)
        return false
    }

    /// Forgets what the transfer needed, which may have ended before its connection was made.
    func endNeed() {
        if need == .cleartext, let transfer { engine.versions.endCleartext(to: transfer.origin) }
        need = .fit
        misses = 0
    }

    /// Sets the handle up to begin again, if the transfer ended only since its connection was not fit.
    func mayBeginAgain() -> Bool {
        guard need == .missed, let transfer else { return false }
        forgetConnection()
        setVersion(transfer)
        return handle.failure == CURLE_OK
    }
}

extension Transfer {
    /// Whether libcurl may send the request a second time, by the same connection, once the server has told how.
    fileprivate var mayAnswerChallenges: Bool {
        credentials.map { $0.methods != .basic } ?? false
    }
}

extension SluiceError {
    fileprivate static var begunTwice: SluiceError {
        SluiceError(.connectionLost, "The connection of HTTP/2, which had just been made, would have to begin anew.")
    }

    fileprivate static var noneFit: SluiceError {
        SluiceError(.connectionLost, "The request found unfit connections time and again, and none was made for it.")
    }

    fileprivate static var otherVersion: SluiceError {
        SluiceError(.invalidResponse, "The server does not speak HTTP/2, which it was to be known for.")
    }
}
#endif
