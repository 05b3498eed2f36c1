import SluiceFoundation
import SluiceHTTP

/// Copies a multipart form without the contents of secret and binary parts.
struct MultipartRedactor {
    /// The maximum depth of nested forms.
    private static let maximumDepth = 8

    private let redaction: Redaction
    private let depth: Int
    private var output = ""

    /// Redacts a form; nil if it has no boundary, or text before the first or after the last boundary.
    ///
    /// - Parameters:
    ///   - data: The form.
    ///   - boundary: The boundary between its parts (RFC 2046 §5.1.1).
    ///   - depth: The number of forms that contain it.
    ///   - redaction: The secrets to remove.
    /// - Returns: The form as text.
    static func redacted(_ data: Data, boundary: String, depth: Int, _ redaction: Redaction) -> String? {
        guard depth < maximumDepth, MultipartBoundary.isValid(boundary) else { return nil }
        let delimiter = Array("\r\n--\(boundary)".utf8)
        // The first boundary may be at the very start, without a line break before it.
        let bytes = [13, 10] + Array(data)
        let offsets = self.offsets(of: delimiter, in: bytes)
        guard offsets.first == 0, let last = offsets.last else { return nil }
        var form = MultipartRedactor(redaction: redaction, depth: depth)
        for (offset, next) in zip(offsets, offsets.dropFirst()) {
            let content = bytes[(offset + delimiter.count)..<next]
            form.output += "--\(boundary)"
            guard form.part(content) else { return nil }
        }
        let end = bytes[(last + delimiter.count)...]
        guard end.starts(with: "--".utf8), end.dropFirst(2).allSatisfy({ $0 <= 0x20 }) else { return nil }
        let shown = form.output + "--\(boundary)--\r\n"
        // Decoding another charset may have produced text that looks like a boundary.
        return self.offsets(of: delimiter, in: [13, 10] + Array(shown.utf8)).count == offsets.count ? shown : nil
    }

    private init(redaction: Redaction, depth: Int) {
        self.redaction = redaction
        self.depth = depth
    }

    private static func offsets(of delimiter: [UInt8], in bytes: [UInt8]) -> [Int] {
        var offsets: [Int] = []
        var start = 0
        while start + delimiter.count <= bytes.count {
            // A boundary is short and has no line break in it, so this takes linear time.
            if bytes[start] == 13, bytes[start..<(start + delimiter.count)].elementsEqual(delimiter) {
                offsets.append(start)
                start += delimiter.count
            } else {
                start += 1
            }
        }
        return offsets
    }

    /// Copies a part, which begins after its boundary. Returns false if it has no head.
    private mutating func part(_ part: ArraySlice<UInt8>) -> Bool {
        let empty = Array("\r\n\r\n".utf8)
        guard part.starts(with: "\r\n".utf8),
            let end = part.indices.first(where: { part[$0] == 13 && part[$0...].starts(with: empty) }),
            let head = Self.head(part[part.startIndex..<end])
        else { return false }
        for field in redaction.headers(head) { output += "\r\n\(field.name): \(field.value)" }
        output += "\r\n\r\n\(shown(Data(part[(end + empty.count)...]), head))\r\n"
        return true
    }

    /// Parses the head of a part, in which a line break precedes each line; nil if a line is not a field (RFC 9110
    /// §5.1, §5.5).
    private static func head(_ bytes: ArraySlice<UInt8>) -> HTTPHeaders? {
        guard let text = String(validating: bytes, as: UTF8.self) else { return nil }
        var head = HTTPHeaders()
        for line in text.split(separator: "\r\n", omittingEmptySubsequences: false).dropFirst() {
            guard let colon = line.utf8.firstIndex(of: UInt8(ascii: ":")) else { return nil }
            let name = line[..<colon]
            let value = line.utf8[colon...].dropFirst().drop(while: \.isBlank)
            guard name.utf8.isToken,
                value.allSatisfy({ $0 >= 0x20 && $0 != 0x7F || $0 == 9 })
            else { return nil }
            head.append(HTTPHeaderName(String(name)), String(Substring(value)))
        }
        return head
    }

    private func shown(_ content: Data, _ head: HTTPHeaders) -> String {
        let disposition = head["Content-Disposition"] ?? ""
        if let name = ContentType("part/\(disposition)")?["name"] {
            if redaction.parameterNames.contains(PercentEncoding.decoded(name.utf8, plusIsSpace: true)) {
                return content.isEmpty ? "" : Redaction.mark
            }
        } else if SecretScanner.containsSecretName(Array(disposition.utf8), redaction.rules) {
            // The name is written in another form, such as `name*=`.
            return Redaction.mark
        }
        switch redaction.body(content, contentType: head[.contentType], depth: depth + 1) {
        case .text(let text): return text
        case .binary: return "(\(content.count) bytes)"
        case .withheld(let reason): return "(\(content.count) bytes: \(reason))"
        }
    }
}
