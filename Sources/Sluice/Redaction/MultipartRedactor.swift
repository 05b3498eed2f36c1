import SluiceFoundation
import SluiceHTTP

/// The parts of a multipart form (RFC 2046 §5.1.1).
package struct MultipartParts {
    /// The maximum depth of nested forms.
    package static let maximumDepth = 8

    package struct Part {
        /// The fields, each after a line break.
        package let head: ArraySlice<UInt8>
        package let content: ArraySlice<UInt8>
    }

    /// The line break, the hyphens and the boundary before each part.
    package let delimiter: [UInt8]
    package let parts: [Part]
    /// The bytes after the last boundary, which begin with two hyphens.
    package let end: ArraySlice<UInt8>

    /// Finds the parts of a form; nil if it does not begin with the boundary, has no end, or has a part without a head.
    package init?(_ form: Data, boundary: String) {
        delimiter = Array("\r\n--\(boundary)".utf8)
        // The first boundary may be at the very start, without a line break before it.
        let bytes = [13, 10] + Array(form)
        let offsets = Self.offsets(of: delimiter, in: bytes)
        guard offsets.first == 0, let last = offsets.last else { return nil }
        end = bytes[(last + delimiter.count)...]
        guard end.starts(with: "--".utf8) else { return nil }
        let empty = Array("\r\n\r\n".utf8)
        var parts: [Part] = []
        for (offset, next) in zip(offsets, offsets.dropFirst()) {
            let part = bytes[(offset + delimiter.count)..<next]
            guard part.starts(with: "\r\n".utf8),
                let end = part.indices.first(where: { part[$0] == 13 && part[$0...].starts(with: empty) })
            else { return nil }
            parts.append(Part(head: part[..<end], content: part[(end + empty.count)...]))
        }
        self.parts = parts
    }

    /// Returns the positions at which the delimiter begins.
    static func offsets(of delimiter: [UInt8], in bytes: [UInt8]) -> [Int] {
        // A boundary is short and has no line break in it, so this takes linear time, and no matches overlap.
        bytes.indices.filter { bytes[$0] == 13 && bytes[$0...].starts(with: delimiter) }
    }
}

extension SecretRules {
    /// Returns true if the content of a form's part is secret by the part's name (RFC 7578 §4.2).
    ///
    /// - Parameter disposition: The `Content-Disposition` field of the part.
    /// - Returns: True if the name is secret, or if another form of it may be.
    package func hidesPart(_ disposition: String) -> Bool {
        if let name = ContentType("part/\(disposition)")?["name"] {
            return parameterNames.contains(PercentEncoding.decoded(name.utf8, plusIsSpace: true))
        }
        // The name is written in another form, such as `name*=`.
        return SecretScanner.containsSecretName(Array(disposition.utf8), self, amongParameters: true)
    }
}

/// Copies a multipart form without the contents of secret parts, and with notes in place of binary parts unless a program
/// reads the result.
struct MultipartRedactor {
    private let redactor: DocumentRedactor
    private let depth: Int
    private var output: [UInt8] = []
    /// True if a note stands in place of a part.
    private var hasNotes = false

    /// Redacts a form; nil if it has no boundary, or text before the first or after the last boundary.
    ///
    /// - Parameters:
    ///   - data: The form.
    ///   - boundary: The boundary between its parts (RFC 2046 §5.1.1).
    ///   - depth: The number of forms that contain it.
    ///   - redactor: The redactor of its parts.
    /// - Returns: The form, as text unless a program reads it.
    static func redacted(
        _ data: Data,
        boundary: String,
        depth: Int,
        _ redactor: DocumentRedactor
    ) -> DocumentRedactor.Result? {
        guard depth < MultipartParts.maximumDepth, MultipartBoundary.isValid(boundary),
            let parts = MultipartParts(data, boundary: boundary), parts.end.dropFirst(2).allSatisfy({ $0 <= 0x20 })
        else { return nil }
        var form = MultipartRedactor(redactor: redactor, depth: depth)
        for part in parts.parts {
            guard let head = head(part.head) else { return nil }
            let redacted = redactor.headers(head)
            form.output += parts.delimiter.dropFirst(2)
            if redactor.keepsStructure, redacted == head {
                form.output += part.head
            } else {
                for field in redacted { form.output += "\r\n\(field.name): \(field.value)".utf8 }
            }
            form.output += "\r\n\r\n".utf8
            let content = form.shown(Data(part.content), head)
            form.output += content
            form.output += "\r\n".utf8
        }
        form.output += parts.delimiter.dropFirst(2)
        form.output += redactor.keepsStructure ? Array(parts.end) : Array("--\r\n".utf8)
        // Decoding another charset may have produced text that looks like a boundary.
        let offsets = MultipartParts.offsets(of: parts.delimiter, in: [13, 10] + form.output)
        guard offsets.count == parts.parts.count + 1 else { return nil }
        if redactor.keepsStructure { return parts.parts.isEmpty ? nil : .bytes(Data(form.output)) }
        let text = String(decoding: form.output, as: UTF8.self)
        if form.hasNotes { return .abridged(text) }
        return .text(text, isChanged: !data.elementsEqual(form.output))
    }

    private init(redactor: DocumentRedactor, depth: Int) {
        self.redactor = redactor
        self.depth = depth
    }

    /// Parses the head of a part, in which a line break precedes each line; nil if a line is not a field (RFC 9110
    /// §5.1, §5.5).
    private static func head(_ bytes: ArraySlice<UInt8>) -> HTTPHeaders? {
        guard String(validating: bytes, as: UTF8.self) != nil else { return nil }
        var head = HTTPHeaders()
        for line in bytes.split(separator: "\r\n".utf8, omittingEmptySubsequences: false).dropFirst() {
            guard let colon = line.firstIndex(of: UInt8(ascii: ":")) else { return nil }
            let name = line[..<colon]
            let value = line[colon...].dropFirst().drop(while: \.isBlank)
            guard name.isToken,
                value.allSatisfy({ $0 >= 0x20 && $0 != 0x7F || $0 == 9 })
            else { return nil }
            head.append(HTTPHeaderName(String(decoding: name, as: UTF8.self)), String(decoding: value, as: UTF8.self))
        }
        return head
    }

    private mutating func shown(_ content: Data, _ head: HTTPHeaders) -> [UInt8] {
        let mark = Array(SecretRules.mark.utf8)
        if redactor.rules.hidesPart(head["Content-Disposition"] ?? "") { return content.isEmpty ? [] : mark }
        switch redactor.body(content, contentType: head[.contentType], depth: depth + 1) {
        case .text(_, isChanged: false) where redactor.keepsStructure: return Array(content)
        case .text(let text, _): return Array(text.utf8)
        case .abridged(let form):
            hasNotes = true
            return Array(form.utf8)
        case .bytes(let form): return Array(form)
        case .binary where redactor.keepsStructure: return Array(content)
        case .binary:
            hasNotes = true
            return Array("(\(content.count) bytes)".utf8)
        case .withheld where redactor.keepsStructure: return mark
        case .withheld(let reason):
            hasNotes = true
            return Array("(\(content.count) bytes: \(reason.rawValue))".utf8)
        }
    }
}
