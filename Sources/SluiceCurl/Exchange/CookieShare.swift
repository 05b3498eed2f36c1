#if os(Linux)
import CCurl
import Glibc
import SluiceHTTP

/// The cookies of one jar, as libcurl keeps them for the handles that share them.
///
/// `@unchecked`: libcurl's share has no locks of its own here. Only the engine's thread attaches handles to it, and each
/// exchange and command holds this object until its handle is detached; so by the time of `deinit`, on whichever thread,
/// nobody else knows of it.
final class CookieShare: CookieStorage, @unchecked Sendable {
    let raw: UnsafeMutableRawPointer

    /// Makes a share of these cookies, on the engine's thread.
    init?(_ lines: [CookieLine] = []) {
        guard let raw = curl_share_init() else { return nil }
        guard sluice_share_data(raw, CURL_LOCK_DATA_COOKIE) == CURLSHE_OK else {
            curl_share_cleanup(raw)
            return nil
        }
        self.raw = raw
        if !lines.isEmpty, applied(.add(lines)) == nil { return nil }
    }

    deinit {
        curl_share_cleanup(raw)
    }

    func perform(_ change: CookieChange, _ completion: @escaping @Sendable ([CookieLine]?) -> Void) {
        guard let mailbox = Engine.mailbox else { return completion(nil) }
        mailbox.post(.perform { [self] in completion(applied(change)) })
    }

    /// Makes a change by a handle of its own, on the engine's thread; nil where there is no memory for that.
    private func applied(_ change: CookieChange) -> [CookieLine]? {
        guard let handle = curl_easy_init() else { return nil }
        defer { curl_easy_cleanup(handle) }
        guard sluice_easy_set_pointer(handle, CURLOPT_SHARE, raw) == CURLE_OK else { return nil }
        switch change {
        case .none: break
        case .removeAll: guard command(handle, Array("ALL".utf8)) else { return nil }
        case .add, .addMissing:
            // Not all of them need the list, which takes time where it is long.
            var kept: [CookieLine] = []
            if case .addMissing = change {
                guard let lines = CookieShare.lines(of: handle) else { return nil }
                kept = lines
            }
            for line in change.additions(to: kept) where !command(handle, line.bytes) { return nil }
        }
        return CookieShare.lines(of: handle)
    }

    /// Gives libcurl a cookie's line, or a word of command; it refuses a cookie without saying so.
    private func command(_ handle: UnsafeMutableRawPointer, _ bytes: [UInt8]) -> Bool {
        (bytes + [0]).withUnsafeBytes { bytes in
            bytes.withMemoryRebound(to: CChar.self) {
                sluice_easy_set_string(handle, CURLOPT_COOKIELIST, $0.baseAddress) == CURLE_OK
            }
        }
    }

    private static func lines(of handle: UnsafeMutableRawPointer) -> [CookieLine]? {
        var list: UnsafeMutablePointer<curl_slist>?
        guard sluice_easy_get_list(handle, CURLINFO_COOKIELIST, &list) == CURLE_OK else { return nil }
        defer { curl_slist_free_all(list) }
        var lines: [CookieLine] = []
        var node = list
        while let item = node {
            if let text = item.pointee.data {
                let bytes = UnsafeRawBufferPointer(start: text, count: strlen(text))
                if let line = CookieLine(bytes) { lines.append(line) }
            }
            node = item.pointee.next
        }
        return lines
    }
}

extension Exchange {
    /// Lets the handle use the jar's cookies, or none.
    func setCookies(_ jar: CookieJar?) {
        let share = jar?.store { CookieShare($0) }
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
