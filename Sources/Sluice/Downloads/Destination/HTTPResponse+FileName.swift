import SluiceHTTP

extension HTTPResponse {
    /// Returns a safe file name for the body: the name in `Content-Disposition`, or the decoded last component of the
    /// request's path, or `download`.
    ///
    /// - Parameter path: The path or the URL of the request. Query and fragment are ignored.
    /// - Returns: A name that is a single path component.
    func suggestedFileName(path: String) -> String {
        if let name = ContentDisposition(of: self)?.fileName {
            let safe = SafeFileName(name).value
            // A name that consists of unsafe characters only is ignored.
            if safe != SafeFileName.fallback { return safe }
        }
        return SafeFileName(Self.lastComponent(of: path)).value
    }

    /// Returns the last component of a URL's path that is not empty, percent-decoded if the result is valid text.
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
    /// Returns the range of the first occurrence of an ASCII text.
    fileprivate func firstRange(of text: String) -> Range<Index>? {
        let (bytes, wanted) = (utf8, text.utf8)
        return bytes.indices.lazy.compactMap { start in
            let candidate = bytes[start...].prefix(wanted.count)
            return candidate.elementsEqual(wanted) ? start..<candidate.endIndex : nil
        }.first
    }
}
