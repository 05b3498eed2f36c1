/// The parts of a URL that are shown differently. Any text is accepted.
struct PageURL {
    /// The scheme and the host: `https://example.com`.
    let origin: String
    /// The host and the port: `example.com`.
    let host: String
    /// The path: `/a/b`.
    let path: String
    /// The query with its question mark, and the fragment: `?q=1`. Empty if there is none.
    let query: String

    init(_ url: String) {
        let bytes = url.utf8
        var rest = bytes[...]
        var scheme = ""
        if let colon = bytes.firstIndex(of: UInt8(ascii: ":")), bytes[colon...].starts(with: "://".utf8) {
            rest = bytes[bytes.index(colon, offsetBy: 3)...]
            scheme = String(decoding: bytes[..<colon], as: UTF8.self) + "://"
        }
        let pathStart = rest.firstIndex { "/?#".utf8.contains($0) } ?? rest.endIndex
        let queryStart = rest[pathStart...].firstIndex { "?#".utf8.contains($0) } ?? rest.endIndex
        host = scheme.isEmpty ? "" : String(decoding: rest[..<pathStart], as: UTF8.self)
        origin = scheme + host
        let pathBytes = scheme.isEmpty ? rest[..<queryStart] : rest[pathStart..<queryStart]
        path = pathBytes.isEmpty ? "/" : String(decoding: pathBytes, as: UTF8.self)
        query = String(decoding: rest[queryStart...], as: UTF8.self)
    }
}
