import SluiceHTTP

extension HTTPResponse {
    /// The name to keep the body under: that of the `Content-Disposition`, else the last component of the request's path,
    /// decoded, else `download`; always safe.
    ///
    /// - Parameter path: The path of the request, or its URL; query and fragment do not count.
    /// - Returns: A name that is one component of a path.
    func suggestedFileName(path: String) -> String {
        if let name = ContentDisposition(of: self)?.fileName {
            let safe = SafeFileName(name).value
            // A name of which nothing is left is none.
            if safe != SafeFileName.fallback { return safe }
        }
        return SafeFileName(Self.lastComponent(of: path)).value
    }

    /// The last component of a URL's path that is not empty, percent-decoded where that gives a text.
    private static func lastComponent(of url: String) -> String {
        var path = url.utf8.prefix { $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") }
        if path.first != UInt8(ascii: "/"), let scheme = Substring(path).firstRange(of: "://") {
            path = path[scheme.upperBound...].drop { $0 != UInt8(ascii: "/") }
        }
        guard let component = path.split(separator: UInt8(ascii: "/")).last else { return "" }
        let bytes = Array(component)
        var decoded: [UInt8] = []
        var index = 0
        while index < bytes.count {
            let byte = PercentEncoding.triplet(in: bytes[...], at: index)
            decoded.append(byte ?? bytes[index])
            index += byte == nil ? 1 : 3
        }
        return String(validating: decoded, as: UTF8.self) ?? String(Substring(component))
    }
}

extension Substring {
    /// Where an ASCII text first stands.
    fileprivate func firstRange(of text: String) -> Range<Index>? {
        let (bytes, wanted) = (utf8, text.utf8)
        return bytes.indices.lazy.compactMap { start in
            let candidate = bytes[start...].prefix(wanted.count)
            return candidate.elementsEqual(wanted) ? start..<candidate.endIndex : nil
        }.first
    }
}
