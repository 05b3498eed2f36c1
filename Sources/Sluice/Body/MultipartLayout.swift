import SluiceFoundation
import SluiceHTTP

/// The sequence of all heads and contents of a form, with nested forms flattened.
struct MultipartLayout: Sendable {
    enum Segment: Sendable {
        case bytes(Data)
        /// A file. The length is nil until it has been determined.
        case file(URL, length: Int64?, part: String)
        case stream(RequestBody.Stream, length: Int64?, part: String)
    }

    private(set) var segments: [Segment] = []
    private(set) var isReplayable = true
    /// The delimiter of one part and the head of the next, collected until the next content.
    private var framing = Data()
    /// The encoder for JSON parts without an encoder of their own.
    private let encoder: JSONEncoder

    /// Creates the layout of a form.
    ///
    /// - Parameters:
    ///   - form: The outermost form.
    ///   - encoder: The encoder for JSON parts without an encoder of their own.
    /// - Throws: A ``SluiceError`` if the form cannot be sent.
    init(_ form: MultipartForm, encoder: JSONEncoder = JSONEncoder()) throws(SluiceError) {
        self.encoder = encoder
        try add(form, as: form.subtype, within: [], path: "")
        addFraming()
    }

    private mutating func add(
        _ form: MultipartForm,
        as subtype: MultipartForm.Subtype,
        within outer: [String],
        path: String
    ) throws(SluiceError) {
        try MultipartBoundary.check(form.boundary, within: outer)
        for (index, part) in form.parts.enumerated() {
            let step = path + (part.name?.printable ?? "#\(index + 1)")
            let label = "“\(step)”"
            framing.append(contentsOf: "--\(form.boundary)\r\n".utf8)
            framing.append(try part.head(in: subtype, label: label))
            switch part.content {
            case .data(let data):
                if !data.isEmpty { add(.bytes(data)) }
            case .encoded(let encode):
                do {
                    add(.bytes(try encode(encoder)))
                } catch {
                    throw .unencodable(label, error)
                }
            case .file(let url):
                add(.file(url, length: nil, part: label))
            case .stream(let stream, let length, let isStreamReplayable):
                if let length, length < 0 { throw .negativeLength(length, label) }
                isReplayable = isReplayable && isStreamReplayable
                add(.stream(stream, length: length, part: label))
            case .form(let nested):
                try add(nested, as: nested.nestedSubtype, within: outer + [form.boundary], path: "\(step)/")
            case .tooDeep:
                throw .tooDeep
            }
            framing.append(contentsOf: "\r\n".utf8)
        }
        framing.append(contentsOf: "--\(form.boundary)--\r\n".utf8)
    }

    private mutating func add(_ segment: Segment) {
        addFraming()
        segments.append(segment)
    }

    private mutating func addFraming() {
        guard !framing.isEmpty else { return }
        segments.append(.bytes(framing))
        framing = Data()
    }

    /// Returns the sum of all lengths, or nil if a length is unknown.
    ///
    /// - Returns: The length in bytes.
    /// - Throws: A ``SluiceError`` if the sum exceeds 64 bits.
    func length() throws(SluiceError) -> Int64? {
        var sum: Int64 = 0
        for segment in segments {
            let length: Int64
            switch segment {
            case .bytes(let data):
                length = Int64(data.count)
            case .file(_, let known, _), .stream(_, let known, _):
                guard let known else { return nil }
                length = known
            }
            let (next, isOver) = sum.addingReportingOverflow(length)
            if isOver { throw .tooLong }
            sum = next
        }
        return sum
    }

    /// Creates the body: in memory if it fits into one piece, otherwise a body that is read while it is sent.
    func body() throws(SluiceError) -> RequestBody {
        let length = try length()
        if let data = wholeInMemory(length) { return .data(data) }
        if segments.contains(where: \.isFile) {
            return .deferred(isReplayable: isReplayable) { try await measured().stream() }
        }
        return try stream()
    }

    private func wholeInMemory(_ length: Int64?) -> Data? {
        guard let length, length <= MultipartReader.pieceSize else { return nil }
        var whole = Data(capacity: Int(length))
        for segment in segments {
            guard case .bytes(let data) = segment else { return nil }
            whole.append(data)
        }
        return whole
    }

    private func stream() throws(SluiceError) -> RequestBody {
        let stream = RequestBody.Stream { [segments] in
            var reader = MultipartReader(segments)
            return { try await reader.next() }
        }
        return .stream(stream, length: try length(), isReplayable: isReplayable)
    }

    /// Determines the lengths of all files. Each file is closed again at once, so the number of files is not limited.
    private func measured() async throws(SluiceError) -> MultipartLayout {
        var layout = self
        for (index, segment) in segments.enumerated() {
            guard case .file(let url, _, let part) = segment else { continue }
            if Task.isCancelled { throw .cancelled }
            do {
                layout.segments[index] = .file(url, length: try await FileReader.open(url).length, part: part)
            } catch {
                throw .unavailable(part, error)
            }
        }
        return layout
    }
}

extension MultipartLayout.Segment {
    fileprivate var isFile: Bool {
        if case .file = self { true } else { false }
    }
}

extension SluiceError {
    /// The error for a part whose content could not be read.
    static func unavailable(_ part: String, _ error: SluiceError) -> SluiceError {
        SluiceError(error.code, "The part \(part) cannot be sent. \(error.reason)", underlyingError: error)
    }

    /// The error for a part whose value could not be encoded.
    fileprivate static func unencodable(_ part: String, _ error: any Error) -> SluiceError {
        let reason = "The part \(part) cannot be sent. \(SluiceError.bodyEncoding(error).reason)"
        return SluiceError(.encodingFailed, reason, step: .building, underlyingError: error)
    }

    fileprivate static func negativeLength(_ length: Int64, _ part: String) -> SluiceError {
        SluiceError(.encodingFailed, "The part \(part) has a negative length: \(length) bytes.", step: .building)
    }

    fileprivate static var tooLong: SluiceError {
        SluiceError(.encodingFailed, "The total length of the form's parts is more than 8 EiB.", step: .building)
    }

    fileprivate static var tooDeep: SluiceError {
        SluiceError(
            .encodingFailed,
            "Forms are nested more than \(MultipartForm.depthLimit) levels deep.",
            step: .building
        )
    }
}

// MARK: - Multipart head

extension MultipartForm.Part {
    /// Returns the header fields of the part and the empty line after them.
    ///
    /// - Parameters:
    ///   - subtype: The subtype of the form that contains the part.
    ///   - label: The name of the part in error messages.
    /// - Returns: The bytes.
    /// - Throws: A ``SluiceError`` for a missing name or an invalid header field.
    func head(in subtype: MultipartForm.Subtype, label: String) throws(SluiceError) -> Data {
        let fields = try fields(in: subtype, label: label)
        if let field = fields.firstInvalidField {
            throw SluiceError(
                .invalidHeader,
                "The header “\(field.name.rawValue.printable)” of the part \(label) cannot be sent: its name must be a token, and its value must not contain control characters.",
                step: .building
            )
        }
        var head = Data(capacity: fields.byteCount + 2)
        for index in fields.indices {
            let line = fields.line(at: index)
            head.append(contentsOf: fields.bytes[line.offset..<line.end])
            head.append(contentsOf: "\r\n".utf8)
        }
        head.append(contentsOf: "\r\n".utf8)
        return head
    }

    private func fields(in subtype: MultipartForm.Subtype, label: String) throws(SluiceError) -> HTTPHeaders {
        var fields = HTTPHeaders()
        if !headers.contains(.contentDisposition) {
            if let disposition = try disposition(in: subtype, label: label) {
                fields.append(.contentDisposition, disposition)
            }
        }
        var extra = headers
        if case .form(let form) = content {
            extra.remove(.contentType)
            fields.append(.contentType, form.contentType(as: form.nestedSubtype))
        } else if let contentType, !headers.contains(.contentType) {
            fields.append(.contentType, contentType)
        }
        fields.append(contentsOf: extra)
        return fields
    }

    private func disposition(in subtype: MultipartForm.Subtype, label: String) throws(SluiceError) -> String? {
        if subtype == .formData, name == nil {
            throw SluiceError(
                .encodingFailed,
                "The part \(label) has no name. Every part of a form-data body requires a name.",
                step: .building
            )
        }
        if name == nil, fileName == nil { return nil }
        var disposition = subtype == .formData ? "form-data" : "attachment"
        if let name { disposition += "; name=\"\(MultipartEscaping.name(name))\"" }
        if let fileName { disposition += "; filename=\"\(MultipartEscaping.fileName(fileName))\"" }
        return disposition
    }

    /// The media type without parameters, or nil if it cannot be written in a quoted string.
    var mediaType: String? {
        let type: String
        if case .form(let form) = content {
            type = "multipart/\(form.nestedSubtype.rawValue)"
        } else {
            type = headers[.contentType] ?? contentType ?? "text/plain"
        }
        let essence = ContentType.essence(of: type)
        let isPlain = essence.utf8.allSatisfy { $0.isTokenCharacter || $0 == UInt8(ascii: "/") }
        return essence.isEmpty || !isPlain ? nil : String(essence)
    }
}

extension MultipartForm {
    /// The subtype that the form has as a part of another form.
    var nestedSubtype: Subtype { subtype == .formData ? .mixed : subtype }
}

/// Escapes names for quoted strings (WHATWG HTML, “multipart/form-data encoding algorithm”).
enum MultipartEscaping {
    /// Escapes the name of a part. Line breaks are normalized to CRLF first.
    static func name(_ name: String) -> String {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(name.utf8.count)
        var previous: UInt8?
        for byte in name.utf8 {
            switch byte {
            case 10 where previous == 13: break
            case 10, 13: bytes += "%0D%0A".utf8
            default: append(byte, to: &bytes)
            }
            previous = byte
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    static func fileName(_ name: String) -> String {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(name.utf8.count)
        for byte in name.utf8 { append(byte, to: &bytes) }
        return String(decoding: bytes, as: UTF8.self)
    }

    private static func append(_ byte: UInt8, to bytes: inout [UInt8]) {
        switch byte {
        case 10: bytes += "%0A".utf8
        case 13: bytes += "%0D".utf8
        case UInt8(ascii: "\""): bytes += "%22".utf8
        default: bytes.append(byte)
        }
    }
}

// MARK: - Multipart boundary

/// The boundary that separates the parts of a form (RFC 2046 §5.1.1).
enum MultipartBoundary {
    /// The maximum length of a boundary, in characters.
    private static let lengthLimit = 70

    /// Creates a boundary from 128 random bits. It is practically impossible for content to contain it by chance.
    static func random(using generator: inout some RandomNumberGenerator) -> String {
        let digits = (0..<2).map { _ in
            let word = String(generator.next(), radix: 16)
            return String(repeating: "0", count: 16 - word.count) + word
        }
        return "sluice-\(digits.joined())"
    }

    /// Returns true if RFC 2046 allows the boundary.
    static func isValid(_ boundary: String) -> Bool {
        let characters = boundary.utf8
        return (1...lengthLimit).contains(characters.count) && characters.allSatisfy(isAllowed)
            && characters.last != UInt8(ascii: " ")
    }

    /// Checks that a boundary is valid and cannot be confused with the boundary of an enclosing form.
    ///
    /// A line that begins with a boundary is a delimiter, whatever follows on the line (RFC 2046 §5.1.2).
    ///
    /// - Parameters:
    ///   - boundary: The boundary of the form.
    ///   - outer: The boundaries of the enclosing forms.
    /// - Throws: A ``SluiceError`` with the code ``SluiceError/Code/encodingFailed``.
    static func check(_ boundary: String, within outer: [String]) throws(SluiceError) {
        guard isValid(boundary) else {
            throw SluiceError(
                .encodingFailed,
                "The boundary of a form is not valid: use 1 to 70 letters, digits or hyphens.",
                step: .building
            )
        }
        if outer.contains(where: { $0.hasPrefix(boundary) || boundary.hasPrefix($0) }) {
            throw SluiceError(
                .encodingFailed,
                "The boundaries of a form and of a nested form are equal, or one begins with the other. Use different boundaries.",
                step: .building
            )
        }
    }

    /// Returns the boundary as a media type parameter value, quoted if it is not a token (RFC 9110 §5.6.6).
    static func parameterValue(_ boundary: String) -> String {
        if boundary.utf8.isToken { return boundary }
        return "\"" + boundary.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"") + "\""
    }

    private static func isAllowed(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default:
            "'()+_,-./:=? ".utf8.contains(byte)
        }
    }
}
