import SluiceHTTP

extension CacheRules {
    /// Returns the primary cache key of a request: its normalized URL (RFC 9110 §4.2.3). GET and HEAD share a key. The
    /// scheme and host are in lowercase; the default port, an empty path, the fragment and needless percent-encoding
    /// are normalized.
    package static func name(of request: HTTPRequest) -> String {
        // A `Host` field in the request overrides the authority of its URL (RFC 9110 §7.2).
        let authority = request.headers[.host] ?? request.authority
        return name(scheme: request.scheme, authority: authority, path: request.path)
    }

    static func name(scheme: String, authority: String, path: String) -> String {
        if isNormal(scheme, authority, path) { return text(scheme, authority, path) }
        let origin = HTTPOrigin(scheme: scheme, authority: authority)
        // An empty port is the default port too (RFC 3986 §6.2.3).
        let host =
            origin.authority.utf8.last == UInt8(ascii: ":") ? String(origin.authority.dropLast()) : origin.authority
        let rest = normalized(path)
        return text(origin.scheme, host, rest.utf8.first == UInt8(ascii: "/") ? rest : "/\(rest)")
    }

    /// True if the URL needs no normalization, which is the common case.
    private static func isNormal(_ scheme: String, _ authority: String, _ path: String) -> Bool {
        guard scheme == "https" || scheme == "http" else { return false }
        var (authority, path) = (authority, path)
        let isNormalHost = authority.withUTF8 { bytes in
            guard let last = bytes.last, bytes.allSatisfy({ $0 == $0.asciiLowercased }) else { return false }
            // The last characters may be the default port.
            return last != UInt8(ascii: ":") && !bytes.suffix(4).elementsEqual(":443".utf8)
                && !bytes.suffix(3).elementsEqual(":80".utf8)
        }
        return isNormalHost
            && path.withUTF8 { bytes in
                bytes.first == UInt8(ascii: "/")
                    && bytes.allSatisfy { $0 != UInt8(ascii: "%") && $0 != UInt8(ascii: "#") }
            }
    }

    private static func text(_ scheme: String, _ host: String, _ path: String) -> String {
        var name = ""
        name.reserveCapacity(scheme.utf8.count + 3 + host.utf8.count + path.utf8.count)
        name += scheme
        name += "://"
        name += host
        name += path
        return name
    }

    /// Decodes percent-encoded unreserved characters, uppercases the other triplets (RFC 3986 §6.2.2) and removes the
    /// fragment.
    private static func normalized(_ path: String) -> String {
        let bytes = Array(path.utf8.prefix { $0 != UInt8(ascii: "#") })
        var output: [UInt8] = []
        output.reserveCapacity(bytes.count)
        var index = 0
        while index < bytes.count {
            guard let byte = PercentEncoding.triplet(in: bytes[...], at: index) else {
                output.append(bytes[index])
                index += 1
                continue
            }
            if byte.isUnreserved {
                output.append(byte)
            } else {
                for digit in bytes[index..<index + 3] {
                    output.append((UInt8(ascii: "a")...UInt8(ascii: "f")).contains(digit) ? digit - 0x20 : digit)
                }
            }
            index += 3
        }
        return String(decoding: output, as: UTF8.self)
    }

    /// True if concurrent requests with the same cache key may share one fetch. After the response is stored, the
    /// waiting requests are planned again.
    ///
    /// Only requests that a stored response can satisfy qualify: GET without a body, a range, conditions or demands for
    /// a newer response.
    package static func mayShare(_ request: HTTPRequest) -> Bool {
        guard request.method == .get, request.body.isNone else { return false }
        let parsed = ParsedRequest(request)
        return parsed.fields.isDisjoint(with: [.conditions, .range])
            && !parsed.directives.demandsFreshness && !parsed.directives.isNoStore
    }

    /// Returns the cache keys to invalidate after a response to an unsafe request (RFC 9111 §4.4).
    ///
    /// - Parameters:
    ///   - head: The response head.
    ///   - request: The request.
    /// - Returns: The cache key of the request, and those of `Location` and `Content-Location` if they have the same
    ///   origin. Empty if the method is safe or the response is an error.
    static func invalidations(after head: HTTPResponse, to request: HTTPRequest) -> [String] {
        if request.method.isSafe { return [] }
        let status = head.status.class
        guard status == .success || status == .redirection else { return [] }
        var names = [name(of: request)]
        let base = URIReference(request.url)
        for field in [HTTPHeaderName.location, .contentLocation] {
            for value in head.headers.fieldValues(for: field) {
                let target = URIReference(value.uriText).resolved(against: base)
                guard let scheme = target.scheme, let authority = target.authority,
                    HTTPOrigin(scheme: scheme, authority: authority) == request.origin
                else { continue }
                let path = target.query.map { "\(target.path)?\($0)" } ?? target.path
                let other = name(scheme: scheme, authority: authority, path: PercentEncoding.completed(path))
                if !names.contains(other) { names.append(other) }
            }
        }
        return names
    }
}
