#if os(Linux)
import CCurl
import SluiceHTTP

/// The cookies of one jar, as libcurl keeps them for the handles that share them.
///
/// `@unchecked`: libcurl's share has no locks of its own here. Only the engine's thread attaches handles to it, and each
/// exchange holds this object until its handle is detached; so by the time of `deinit`, on whichever thread, nobody else
/// knows of it.
final class CookieShare: @unchecked Sendable {
    let raw: UnsafeMutableRawPointer

    init?() {
        guard let raw = curl_share_init() else { return nil }
        guard sluice_share_data(raw, CURL_LOCK_DATA_COOKIE) == CURLSHE_OK else {
            curl_share_cleanup(raw)
            return nil
        }
        self.raw = raw
    }

    deinit {
        curl_share_cleanup(raw)
    }
}

extension Exchange {
    /// Lets the handle use the jar's cookies, or none.
    func setCookies(_ jar: CookieJar?) {
        let share = jar?.store { CookieShare() }
        if jar != nil && share == nil { handle.note(CURLE_OUT_OF_MEMORY) }
        guard share !== cookies else { return }
        // An empty name of a file turns libcurl's cookies on, none turns them off. In this order: while there is a share,
        // turning them off leaves its cookies alone.
        handle.set(CURLOPT_COOKIEFILE, string: nil)
        handle.set(CURLOPT_SHARE, pointer: share?.raw)
        if share != nil { handle.set(CURLOPT_COOKIEFILE, string: "") }
        cookies = share
    }
}
#endif
