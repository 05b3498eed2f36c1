import SluiceHTTP

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension CassetteRedaction {
    /// The maximum nesting depth of multipart forms.
    private static let maximumFormDepth = 8

    /// Redacts the contents of the secret parts of a multipart form (RFC 2046 §5.1.1). All other bytes are unchanged.
    ///
    /// - Parameters:
    ///   - form: The form.
    ///   - boundary: The boundary between the parts.
    ///   - depth: The number of multipart forms that enclose this one.
    /// - Returns: The redacted form, or nil if it is malformed or nested too deeply.
    func multipart(_ form: Data, boundary: String, depth: Int) -> Data? {
        guard depth < Self.maximumFormDepth, !boundary.isEmpty else { return nil }
        let delimiter = Array("\r\n--\(boundary)".utf8)
        // The first boundary may start at the first byte of the form.
        let bytes = Array("\r\n".utf8) + form
        var places: [Range<Int>] = []
        while let place = bytes[(places.last?.upperBound ?? 0)...].firstRange(of: delimiter) { places.append(place) }
        guard let first = places.first, let last = places.last, first.lowerBound == 0, places.count > 1,
            bytes[last.upperBound...].starts(with: "--".utf8)
        else { return nil }
        var output: [UInt8] = []
        for (place, next) in zip(places, places.dropFirst()) {
            guard let part = part(bytes[place.upperBound..<next.lowerBound], depth: depth) else { return nil }
            output += delimiter + part
        }
        output += bytes[last.lowerBound...]
        return Data(output.dropFirst(2))
    }

    /// Redacts a part. The bytes start after its boundary. Returns nil if the part has no header section.
    private func part(_ part: ArraySlice<UInt8>, depth: Int) -> [UInt8]? {
        let blank = Array("\r\n\r\n".utf8)
        guard part.starts(with: "\r\n".utf8), let end = part.firstRange(of: blank) else { return nil }
        let content = Data(part[end.upperBound...])
        var headers = HTTPHeaders()
        for line in part[..<end.lowerBound].split(separator: UInt8(ascii: "\n")) {
            let text = String(decoding: line, as: UTF8.self).filter { $0 != "\r" }
            guard let colon = text.firstIndex(of: ":") else { continue }
            let value = text[colon...].dropFirst().drop { $0 == " " || $0 == "\t" }
            headers.append(HTTPHeaderName(String(text[..<colon])), String(value))
        }
        let shown: Data
        if isSecret(disposition: headers["Content-Disposition"] ?? "") {
            shown = content.isEmpty ? content : Data(Self.mark.utf8)
        } else {
            shown = body(content, headers, isDecoded: true, depth: depth + 1)
        }
        return Array(part[..<end.upperBound]) + shown
    }

    /// Returns true if the name of a part is secret.
    ///
    /// If there is no plain `name` parameter, for example because the name is written as `name*=`, the part is secret if any
    /// word of the disposition is a secret name.
    private func isSecret(disposition: String) -> Bool {
        if let name = ContentType("part/\(disposition)")?["name"] { return isSecret(parameter: name) }
        let words = disposition.split { !$0.isLetter && !$0.isNumber && $0 != "_" && $0 != "-" }
        return words.contains { isSecret(parameter: String($0)) }
    }
}
