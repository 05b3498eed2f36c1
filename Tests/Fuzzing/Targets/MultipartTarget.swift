@testable import Sluice
@testable import SluiceCache
@testable import SluiceHTTP
@testable import SluiceJSON

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension FuzzTarget {
    /// Redacts a form, whose boundary is in the first line. Then writes a form of the other lines, a name and a content for each
    /// part.
    static let multipart = FuzzTarget("multipart") { bytes in
        var input = FuzzInput(bytes)
        let boundary = input.line()
        let form = input.data
        let shown = shownForm(form, boundary)
        // The placeholder of a withheld part, “it may contain a secret”, contains that word itself.
        if let shown, !shown.containsBytes(of: " bytes: it may contain a secret)") {
            let again = shownForm(Data(shown.utf8), boundary)
            try require(again?.isSame(as: shown) == true, "Redaction of a form is not idempotent.")
        }
        try checkWritten(&input)
    }

    private static func shownForm(_ form: Data, _ boundary: String) -> String? {
        let redactor = DocumentRedactor(.usual, limit: 1 << 20)
        return switch MultipartRedactor.redacted(form, boundary: boundary, depth: 0, redactor) {
        case .text(let text, _)?, .abridged(let text)?: text
        default: nil
        }
    }

    private static func checkWritten(_ input: inout FuzzInput) throws {
        let boundary = "b0undary-\(input.rest.count)"
        var form = MultipartForm(boundary: boundary)
        var secrets = false
        while !input.isEmpty {
            let (name, content) = (input.line(), input.line())
            if Redaction.standard.parameterNames.contains(name) { secrets = true }
            form.append(.text(content, name: name, fileName: name.utf8.count % 3 == 0 ? name : nil))
        }
        let isMarked = form.parts.contains { part in
            if case .data(let data) = part.content {
                String(decoding: data, as: UTF8.self).containsBytes(of: boundary)
            } else {
                true
            }
        }
        guard !isMarked, let layout = try? MultipartLayout(form) else { return }
        var written = Data()
        for segment in layout.segments { if case .bytes(let data) = segment { written.append(data) } }
        try require(try layout.length() == Int64(written.count), "The announced length of a form is wrong.")
        let all = Redaction.none.body(written, contentType: form.contentType)
        let isText = !written.contains { $0 < 0x20 && !(9...13).contains($0) && $0 != 0x1B }
        let whole = String(decoding: written, as: UTF8.self)
        if isText, !form.parts.isEmpty {
            // A byte order mark at the start of a content is not shown.
            let hasMark = whole.unicodeScalars.contains("\u{FEFF}")
            try require(all == .text(whole) || hasMark, "Redacting nothing changes a form.")
        }
        guard !secrets, case .text(let shown) = Redaction.standard.body(written, contentType: form.contentType) else {
            return
        }
        try require(shown.utf8.count >= form.parts.count * boundary.utf8.count, "A redacted form lacks parts.")
    }
}
