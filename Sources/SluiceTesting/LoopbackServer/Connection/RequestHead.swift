import SluiceHTTP

/// The parsed request line and header fields (RFC 9112 §3 and §5).
struct RequestHead {
    let method: HTTPMethod
    let target: String
    let headers: HTTPHeaders
    /// True if the client will not reuse the connection.
    let wantsClose: Bool

    /// Parses the bytes of a head, including the empty line. Returns nil if it is malformed.
    init?(_ bytes: ArraySlice<UInt8>) {
        var lines = bytes.split(separator: 10).makeIterator()
        guard let first = lines.next() else { return nil }
        let words = RequestHead.withoutReturn(first).split(separator: 32, omittingEmptySubsequences: false)
        guard words.count == 3, !words[0].isEmpty, words[0].allSatisfy(\.isTokenCharacter), !words[1].isEmpty else {
            return nil
        }
        let version = String(decoding: words[2], as: UTF8.self)
        guard version == "HTTP/1.1" || version == "HTTP/1.0" else { return nil }
        var headers = HTTPHeaders()
        while let line = lines.next().map(RequestHead.withoutReturn), !line.isEmpty {
            guard let colon = line.firstIndex(of: UInt8(ascii: ":")) else { return nil }
            let name = line[..<colon]
            guard !name.isEmpty, name.allSatisfy(\.isTokenCharacter) else { return nil }
            let value = RequestHead.trimmed(line[(colon + 1)...])
            name.withUnsafeBytes { name in value.withUnsafeBytes { headers.append(name: name, value: $0) } }
        }
        method = HTTPMethod(rawValue: String(decoding: words[0], as: UTF8.self))
        target = String(decoding: words[1], as: UTF8.self)
        let connection = headers[.connection]?.lowercased()
        wantsClose = version == "HTTP/1.1" ? connection == "close" : connection != "keep-alive"
        self.headers = headers
    }

    private static func withoutReturn(_ line: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        line.last == 13 ? line.dropLast() : line
    }

    private static func trimmed(_ value: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        let isBlank = { (byte: UInt8) in byte == 32 || byte == 9 }
        guard let last = value.lastIndex(where: { !isBlank($0) }) else { return value.prefix(0) }
        return value[...last].drop(while: isBlank)
    }
}
