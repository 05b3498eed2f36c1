import SluiceHTTP

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The head of a response as it is kept (RFC 9111 §3.1, §3.2).
enum StoredHead {
    /// What concerns one connection or one proxy, and trailers, which are not kept.
    private static let connectionFields: [HTTPHeaderName] = [
        .connection, "Keep-Alive", "Proxy-Authenticate", "Proxy-Authentication-Info", .proxyAuthorization,
        "Proxy-Connection", "TE",
        "Trailer", .transferEncoding, "Upgrade",
    ]

    /// What decides how a response may be used.
    private static let kept: [HTTPHeaderName] =
        bodyFields + [.age, .cacheControl, .date, .eTag, .expires, .lastModified, .vary]

    /// What an update must not change: what describes the bytes as they are stored.
    ///
    /// `Content-Type` is among it: servers put a default one on a 304, where it describes nothing (RFC 9110 §15.4.5).
    private static let bodyFields: [HTTPHeaderName] = [
        .contentEncoding, .contentLength, .contentRange, "Content-MD5", .contentType,
    ]

    /// A head without what is not stored, and with a `Date` (RFC 9110 §6.6.1).
    static func storable(_ head: HTTPResponse, received: Date) -> HTTPResponse {
        var stored = head
        // `Connection: Cache-Control` would be a mistake (RFC 9110 §7.6.1), and one that loosens what is kept.
        let named = head.headers.values(for: .connection).flatMap { line in
            line.utf8.split(separator: UInt8(ascii: ",")).map {
                HTTPHeaderName(String(Substring($0.trimmingListSpace)))
            }
        }
        for name in connectionFields + named.filter({ !kept.contains($0) }) { stored.headers.remove(name) }
        let dates = head.headers.values(for: .date)
        if dates.count != 1 || HTTPDate.parse(dates[0], now: received) == nil {
            stored.headers[.date] = HTTPDate.string(from: received)
        }
        return stored
    }

    /// A stored head with the fields of a newer one in the place of its own (RFC 9111 §3.2).
    ///
    /// - Parameters:
    ///   - stored: What is stored.
    ///   - newer: That of a 304, of a HEAD, or of a part of the same.
    ///   - received: When that came.
    /// - Returns: The stored status with the fields of both. An `Age` is the newer one's or none, and so is the `Date`: what it was
    ///   made by is over.
    static func updated(_ stored: HTTPResponse, with newer: HTTPResponse, received: Date) -> HTTPResponse {
        var updated = stored
        updated.version = newer.version
        updated.headers.remove(.age)
        let fields = storable(newer, received: received).headers.filter { !bodyFields.contains($0.name) }
        for name in Set(fields.map(\.name)) { updated.headers.remove(name) }
        for field in fields { updated.headers.append(field) }
        return updated
    }
}
