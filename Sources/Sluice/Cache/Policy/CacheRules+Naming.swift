import SluiceHTTP

extension CacheRules {
    /// Under what the responses to a request are kept, for GET and HEAD alike: its URL, in one form for all that mean the same
    /// (RFC 9110 §4.2.3): scheme and host in small letters, no default port, no empty path, no fragment, nothing encoded that
    /// need not be.
    static func name(of request: HTTPRequest) -> String {
        // A `Host` of the request's own says whose answer it is (RFC 9110 §7.2).
        let authority = request.headers[.host] ?? request.authority
        return name(scheme: request.scheme, authority: authority, path: request.path)
    }

    static func name(scheme: String, authority: String, path: String) -> String {
        if isNormal(scheme, authority, path) { return text(scheme, authority, path) }
        let origin = HTTPOrigin(scheme: scheme, authority: authority)
        // A port that is empty is the default one too (RFC 3986 §6.2.3).
        let host =
            origin.authority.utf8.last == UInt8(ascii: ":") ? String(origin.authority.dropLast()) : origin.authority
        let rest = normalized(path)
        return text(origin.scheme, host, rest.utf8.first == UInt8(ascii: "/") ? rest : "/\(rest)")
    }

    /// Whether the parts of a URL are in the one form already, as nearly all are.
    private static func isNormal(_ scheme: String, _ authority: String, _ path: String) -> Bool {
        guard scheme == "https" || scheme == "http" else { return false }
        var (authority, path) = (authority, path)
        let isNormalHost = authority.withUTF8 { bytes in
            guard let last = bytes.last, bytes.allSatisfy({ $0 == $0.asciiLowercased }) else { return false }
            // It may be the default port.
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

    /// Decodes what stands for unreserved characters, writes other triplets in capitals (RFC 3986 §6.2.2), leaves out the fragment.
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

    /// What tells a response to a request apart from others under its name: ``CacheEntry/variant``.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - head: The response's, with its `Vary`.
    ///   - identity: The digest of the credentials that the response is for; nil for anybody.
    /// - Returns: Nil where no request can match: `Vary: *`.
    static func variant(of request: HTTPRequest, head: HTTPResponse, identity: String?) -> String? {
        VaryField(head.headers).variant(of: request, identity: identity)
    }

    /// Whether equal requests that miss at the same time may share one fetch: once the response is stored, those who waited plan
    /// again.
    ///
    /// Only those that anything stored can answer: a GET without a body, a range, conditions of its own, or demands for something
    /// newer.
    static func mayShare(_ request: HTTPRequest) -> Bool {
        guard request.method == .get, request.body.isNone else { return false }
        let question = CacheQuestion(request)
        return question.fields.isDisjoint(with: [.conditions, .range])
            && !question.directives.demandsFreshness && !question.directives.isNoStore
    }

    /// The names under which all is outdated once a request that may have changed something has been answered (RFC 9111 §4.4).
    ///
    /// - Parameters:
    ///   - head: The response's.
    ///   - request: The request it answers.
    /// - Returns: Where the method is unsafe or unknown and the response no error: the request's own name, and those of `Location`
    ///   and `Content-Location` if they are of the same origin.
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
