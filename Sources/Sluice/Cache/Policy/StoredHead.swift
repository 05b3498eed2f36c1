import SluiceHTTP

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The stored form of a response head (RFC 9111 §3.1, §3.2).
enum StoredHead {
    /// The fields that concern a single connection or proxy, and `Trailer`, because trailer sections are not stored.
    private static let connectionFields: [HTTPHeaderName] = [
        .connection, "Keep-Alive", "Proxy-Authenticate", "Proxy-Authentication-Info", .proxyAuthorization,
        "Proxy-Connection", "TE",
        "Trailer", .transferEncoding, "Upgrade",
    ]

    /// The fields that control reuse of the response. `Connection` cannot remove them.
    private static let kept: [HTTPHeaderName] =
        bodyFields + [.age, .cacheControl, .date, .eTag, .expires, .lastModified, .vary]

    /// The fields that describe the stored bytes. An update must not change them.
    ///
    /// `Content-Type` is among them because servers add a default one to a 304, where it describes nothing (RFC 9110
    /// §15.4.5).
    private static let bodyFields: [HTTPHeaderName] = [
        .contentEncoding, .contentLength, .contentRange, "Content-MD5", .contentType,
    ]

    /// Returns the head without the fields that are not stored, and with a `Date` (RFC 9110 §6.6.1).
    static func storable(_ head: HTTPResponse, received: Date) -> HTTPResponse {
        var stored = head
        // `Connection: Cache-Control` is an error (RFC 9110 §7.6.1) that would lift restrictions on reuse.
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

    /// Returns a stored head updated with the fields of a newer one (RFC 9111 §3.2).
    ///
    /// - Parameters:
    ///   - stored: The stored head.
    ///   - newer: The head of a 304, of a response to HEAD, or of a part of the same version.
    ///   - received: The time at which the newer head was received.
    /// - Returns: The stored status with the fields of both heads. `Age` and `Date` come from the newer head only.
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
