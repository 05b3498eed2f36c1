import SluiceHTTP

extension CacheRules {
    /// Returns the primary cache key of a request: the normalized URL that it is sent to (RFC 9110 §4.2.3). GET and HEAD
    /// share a key. The scheme and host are in lowercase; the default port, an empty path, the fragment and needless
    /// percent-encoding are normalized.
    ///
    /// The server that a request connects to determines the key. A `Host` field with another name is added to it (RFC
    /// 9110 §7.2), so that a server can fill the entries of its own URLs only.
    package static func name(of request: HTTPRequest) -> String {
        let name = name(scheme: request.scheme, authority: request.authority, path: request.path)
        return request.headers.contains(.host) ? name + hostSuffix(of: request) : name
    }

    static func name(scheme: String, authority: String, path: String) -> String {
        if isNormal(scheme, authority, path) { return String(joining: scheme, "://", authority, path) }
        let origin = HTTPOrigin(scheme: scheme, authority: authority)
        let rest = normalized(path)
        return String(
            joining: origin.scheme,
            "://",
            normalizedAuthority(Array(authority.utf8), scheme: origin.scheme),
            rest.utf8.first == UInt8(ascii: "/") ? rest : "/\(rest)"
        )
    }

    /// Returns the `Host` fields after a number sign, which no URL in a key contains; empty if they name the authority.
    private static func hostSuffix(of request: HTTPRequest) -> String {
        let hosts = request.headers.fieldValues(for: .host).map {
            normalizedAuthority($0.bytes, scheme: request.scheme)
        }
        if hosts == [normalizedAuthority(Array(request.authority.utf8), scheme: request.scheme)] { return "" }
        return "#" + hosts.joined(separator: "#")
    }

    /// Returns a host and port in lowercase, without the default port. Bytes that no host contains are percent-encoded,
    /// so that different authorities never look alike.
    private static func normalizedAuthority(_ bytes: [UInt8], scheme: String) -> String {
        var host = bytes[...]
        // An empty port is the default port too (RFC 3986 §6.2.3).
        if let colon = bytes.lastIndex(of: UInt8(ascii: ":")), bytes[(colon + 1)...].allSatisfy(\.isDigit) {
            let port = bytes[(colon + 1)...].drop { $0 == UInt8(ascii: "0") }
            let defaultPort = scheme.lowercased() == "https" ? "443" : "80"
            let isDefault = port.isEmpty || port.elementsEqual(defaultPort.utf8)
            host = isDefault ? bytes[..<colon] : bytes[...colon] + port
        }
        var output: [UInt8] = []
        for byte in host {
            if isAuthorityByte(byte.asciiLowercased) {
                output.append(byte.asciiLowercased)
            } else {
                PercentEncoding.append(triplet: byte, to: &output)
            }
        }
        return String(decoding: output, as: UTF8.self)
    }

    /// True for lowercase letters, digits and `-._~:[]`. A mask with a bit for each byte, because each cache hit asks.
    private static func isAuthorityByte(_ byte: UInt8) -> Bool {
        let mask: UInt64 = byte < 64 ? 0x07FF_6000_0000_0000 : byte < 128 ? 0x47FF_FFFE_A800_0000 : 0
        return mask >> UInt64(byte & 63) & 1 == 1
    }

    /// True if the URL needs no normalization, which is the common case.
    private static func isNormal(_ scheme: String, _ authority: String, _ path: String) -> Bool {
        guard scheme == "https" || scheme == "http" else { return false }
        var (authority, path) = (authority, path)
        let isNormalHost = authority.withUTF8 { bytes in
            guard let last = bytes.last, bytes.allSatisfy(isAuthorityByte) else { return false }
            // The port may be the default one, or have leading zeros.
            guard last.isDigit || last == UInt8(ascii: ":"), let colon = bytes.lastIndex(of: UInt8(ascii: ":")) else {
                return true
            }
            let port = bytes[(colon + 1)...]
            return !port.isEmpty && port.first != UInt8(ascii: "0") && !port.elementsEqual("443".utf8)
                && !port.elementsEqual("80".utf8)
        }
        return isNormalHost
            && path.withUTF8 { bytes in
                bytes.first == UInt8(ascii: "/")
                    && bytes.allSatisfy { $0 != UInt8(ascii: "%") && $0 != UInt8(ascii: "#") }
            }
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
        let suffix = request.headers.contains(.host) ? hostSuffix(of: request) : ""
        let base = URIReference(request.url)
        for field in [HTTPHeaderName.location, .contentLocation] {
            for value in head.headers.fieldValues(for: field) {
                let target = URIReference(value.uriText).resolved(against: base)
                guard let scheme = target.scheme, let authority = target.authority,
                    Authority.problem(in: authority) == nil,
                    HTTPOrigin(scheme: scheme, authority: authority) == request.origin
                else { continue }
                let path = target.query.map { "\(target.path)?\($0)" } ?? target.path
                let other =
                    name(scheme: scheme, authority: authority, path: PercentEncoding.completed(path)) + suffix
                if !names.contains(other) { names.append(other) }
            }
        }
        return names
    }
}
