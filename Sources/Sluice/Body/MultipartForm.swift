import SluiceFoundation
import SluiceHTTP

/// A multipart body, most often the fields and files of a form (RFC 7578, RFC 2046 §5.1).
///
/// ```swift
/// let form: MultipartForm = [.text("Ada", name: "user"), .file(archive, name: "archive")]
/// let answer = try await shop.string.post("users").multipart(form).sender().value
/// ```
///
/// A form is a value. It reads nothing before it is sent. Files and streams of any size are sent in pieces of 256 KiB
/// with one file open at a time. Short parts are combined into one piece.
///
/// Names and file names are written as browsers write them (WHATWG HTML, “multipart/form-data encoding algorithm”): in
/// UTF-8, with `"`, CR and LF as `%22`, `%0D` and `%0A`. Line breaks in names are first normalized to CRLF. Contents
/// are sent unchanged.
public struct MultipartForm: Sendable {
    /// The relation between the parts: the subtype after `multipart/`.
    public enum Subtype: String, Sendable, Hashable {
        /// The fields of a form; each needs a name (RFC 7578).
        case formData = "form-data"
        /// Independent parts, in order (RFC 2046 §5.1.3).
        case mixed
        /// Parts of a compound object, whose root is the first part (RFC 2387).
        case related
    }

    /// The maximum nesting depth, including the outermost form. A deeper form is rejected when it is sent.
    static let depthLimit = 32

    /// The relation between the parts.
    let subtype: Subtype
    /// The boundary between the parts, without its two leading hyphens.
    package let boundary: String
    /// The parts in the order in which they are sent.
    private(set) var parts: [Part] = []
    /// The nesting depth of this form, including itself.
    private(set) var depth = 1

    /// Creates an empty form with a random boundary.
    ///
    /// - Parameter subtype: The relation between the parts.
    public init(_ subtype: Subtype = .formData) {
        var generator = SystemRandomNumberGenerator()
        self.init(subtype, using: &generator)
    }

    /// Creates an empty form with a boundary of 128 random bits.
    ///
    /// - Parameters:
    ///   - subtype: The relation between the parts.
    ///   - generator: The source of the random bits. A seeded generator makes the body reproducible.
    package init(_ subtype: Subtype = .formData, using generator: inout some RandomNumberGenerator) {
        self.init(subtype, boundary: MultipartBoundary.random(using: &generator))
    }

    /// Creates an empty form with a given boundary.
    ///
    /// - Parameters:
    ///   - subtype: The relation between the parts.
    ///   - boundary: 1 to 70 letters, digits, spaces and `'()+_,-./:=?`, not ending in a space (RFC 2046 §5.1.1);
    ///     sending fails for any other. No line of a part may begin with two hyphens and the boundary.
    package init(_ subtype: Subtype = .formData, boundary: String) {
        self.subtype = subtype
        self.boundary = boundary
    }

    /// Appends a part.
    ///
    /// - Parameter part: The part to append.
    public mutating func append(_ part: Part) {
        var part = part
        if case .form(let form) = part.content {
            // Drop a form that is nested too deeply, because even deallocating it could overflow the stack.
            if form.depth < Self.depthLimit { depth = max(depth, form.depth + 1) } else { part.content = .tooDeep }
        }
        parts.append(part)
    }

    /// Returns a copy with more parts appended.
    ///
    /// - Parameter parts: The parts to append.
    /// - Returns: A form with the same subtype and boundary.
    public func adding(_ parts: Part...) -> MultipartForm {
        var form = self
        for part in parts { form.append(part) }
        return form
    }

    /// The `Content-Type` of the body: `multipart/form-data; boundary=…`. For a related form it includes the media type
    /// of the root part (RFC 2387 §3.1).
    public var contentType: String { contentType(as: subtype) }

    func contentType(as subtype: Subtype) -> String {
        let type = subtype == .related ? parts.first?.mediaType.map { "; type=\"\($0)\"" } ?? "" : ""
        return "multipart/\(subtype.rawValue)\(type); boundary=\(MultipartBoundary.parameterValue(boundary))"
    }

    /// Creates the body, which reads files and streams when it is sent.
    ///
    /// The length of the body is known in advance unless a stream has no length. The sizes of files are determined
    /// before the first byte is sent. A file that is missing or unreadable fails the request with
    /// ``SluiceError/Code/bodyUnavailable``. A stream that provides more or fewer bytes than announced, or a file whose
    /// size changes, fails it with ``SluiceError/Code/bodyLengthMismatch``. The body is replayable unless it contains a
    /// stream that is not.
    ///
    /// An empty form consists of its closing boundary only, as browsers write it.
    ///
    /// - Parameter encoder: The encoder for JSON parts without an encoder of their own.
    /// - Returns: The body.
    /// - Throws: A ``SluiceError``: ``SluiceError/Code/invalidHeader`` for a name or header that is invalid in a part's
    ///   head; ``SluiceError/Code/encodingFailed`` for a boundary that is invalid or conflicts with that of a nested
    ///   form, a part of form-data without a name, a value that cannot be encoded, a nesting depth over 32, or a negative
    ///   length.
    package func body(encoder: JSONEncoder = JSONEncoder()) throws(SluiceError) -> RequestBody {
        try MultipartLayout(self, encoder: encoder).body()
    }
}

extension MultipartForm: ExpressibleByArrayLiteral {
    /// Creates form-data from parts, with a random boundary.
    public init(arrayLiteral parts: Part...) {
        self.init()
        for part in parts { append(part) }
    }
}

// MARK: - Parts

extension MultipartForm {
    /// A part of a form: a head and its content.
    ///
    /// ```swift
    /// let form: MultipartForm = [.text("Ada", name: "user"), .file(picture, name: "picture")]
    /// ```
    ///
    /// A part of form-data requires a name. In other forms, a part with a name or a file name gets the content
    /// disposition `attachment`. A part without either has only its media type and content.
    ///
    /// Extra headers follow the part's generated headers and replace those with the same name. Receivers of form-data
    /// ignore them (RFC 7578 §4.8).
    public struct Part: Sendable {
        enum Content: Sendable {
            case data(Data)
            /// A value that is encoded when the request is built, with the client's encoder.
            case encoded(@Sendable (_ client: JSONEncoder) throws -> Data)
            case file(URL)
            case stream(RequestBody.Stream, length: Int64?, isReplayable: Bool)
            case form(MultipartForm)
            /// A placeholder for a form that exceeds the nesting limit.
            case tooDeep
        }

        let name: String?
        let fileName: String?
        let contentType: String?
        let headers: HTTPHeaders
        var content: Content

        /// Creates a part from text, sent as UTF-8 with its line breaks unchanged.
        ///
        /// - Parameters:
        ///   - text: The content; it may be empty.
        ///   - name: The field's name.
        ///   - fileName: A file name; none by default.
        ///   - contentType: The part's media type; none by default, which means plain text (RFC 7578 §4.4).
        ///   - headers: Extra headers.
        /// - Returns: A part with the text as its content.
        public static func text(
            _ text: String,
            name: String? = nil,
            fileName: String? = nil,
            contentType: String? = nil,
            headers: HTTPHeaders = [:]
        ) -> Part {
            Part(
                name: name,
                fileName: fileName,
                contentType: contentType,
                headers: headers,
                content: .data(Data(text.utf8))
            )
        }

        /// Creates a part from a value, which is encoded as JSON when the request is built.
        ///
        /// - Parameters:
        ///   - value: The value to encode. One that cannot be encoded fails the request with
        ///     ``SluiceError/Code/encodingFailed``.
        ///   - name: The field's name.
        ///   - fileName: A file name; none by default.
        ///   - contentType: The part's media type; `application/json` by default.
        ///   - headers: Extra headers.
        ///   - encoder: The encoder; nil for the client's ``APIClient/Configuration/encoder``.
        /// - Returns: A part with the JSON as its content.
        public static func json(
            _ value: some Encodable & Sendable,
            name: String? = nil,
            fileName: String? = nil,
            contentType: String = "application/json",
            headers: HTTPHeaders = [:],
            encoder: JSONEncoder? = nil
        ) -> Part {
            Part(
                name: name,
                fileName: fileName,
                contentType: contentType,
                headers: headers,
                content: .encoded { client in try (encoder ?? client).encode(value) }
            )
        }

        /// Creates a part from bytes in memory.
        ///
        /// - Parameters:
        ///   - data: The content; it may be empty.
        ///   - name: The field's name.
        ///   - fileName: A file name; none by default.
        ///   - contentType: The part's media type; derived from the extension of the file name by default, otherwise
        ///     `application/octet-stream`.
        ///   - headers: Extra headers.
        /// - Returns: A part with the bytes as its content.
        public static func data(
            _ data: Data,
            name: String? = nil,
            fileName: String? = nil,
            contentType: String? = nil,
            headers: HTTPHeaders = [:]
        ) -> Part {
            Part(
                name: name,
                fileName: fileName,
                contentType: contentType ?? MediaType.forFileName(fileName ?? ""),
                headers: headers,
                content: .data(data)
            )
        }

        /// Creates a part from a file, which is opened when the part is sent and read in pieces.
        ///
        /// - Parameters:
        ///   - url: The URL of the file. It must be a regular file that is readable when the request is sent.
        ///   - name: The field's name.
        ///   - fileName: The file name to send; the last path component of the URL by default.
        ///   - contentType: The part's media type; derived from the extension of the file name by default, otherwise
        ///     `application/octet-stream`.
        ///   - headers: Extra headers.
        /// - Returns: A part with the file as its content.
        public static func file(
            _ url: URL,
            name: String? = nil,
            fileName: String? = nil,
            contentType: String? = nil,
            headers: HTTPHeaders = [:]
        ) -> Part {
            let fileName = fileName ?? url.lastPathComponent
            return Part(
                name: name,
                fileName: fileName,
                contentType: contentType ?? MediaType.forFileName(fileName),
                headers: headers,
                content: .file(url)
            )
        }

        /// Creates a part from an asynchronous sequence of chunks. It is read when the part is sent, no faster than the
        /// network accepts the data. Each chunk is sent without waiting for the next one.
        ///
        /// - Parameters:
        ///   - chunks: The content, in chunks of any size. An error it throws fails the request.
        ///   - length: The exact number of bytes in total. Without it the length of the whole body is unknown.
        ///   - name: The field's name.
        ///   - fileName: A file name; none by default.
        ///   - contentType: The part's media type; derived from the extension of the file name by default, otherwise
        ///     `application/octet-stream`.
        ///   - headers: Extra headers.
        ///   - isReplayable: True if a new iterator starts again at the first byte; false by default.
        /// - Returns: A part with the chunks as its content.
        public static func stream<Chunks: AsyncSequence & Sendable>(
            _ chunks: Chunks,
            length: Int64? = nil,
            name: String? = nil,
            fileName: String? = nil,
            contentType: String? = nil,
            headers: HTTPHeaders = [:],
            isReplayable: Bool = false
        ) -> Part where Chunks.Element: Sequence<UInt8> {
            Part(
                name: name,
                fileName: fileName,
                contentType: contentType ?? MediaType.forFileName(fileName ?? ""),
                headers: headers,
                content: .stream(
                    RequestBody.Stream(chunks, isReplayable: isReplayable),
                    length: length,
                    isReplayable: isReplayable
                )
            )
        }

        /// Creates a part from another form. Nested form-data is sent as `multipart/mixed`, because its fields would
        /// have no meaning there.
        ///
        /// - Parameters:
        ///   - form: The nested form. Its boundary must differ from that of the outer form.
        ///   - name: The field's name.
        ///   - headers: Extra headers. The media type is that of the form.
        /// - Returns: A part with the form as its content.
        public static func nested(_ form: MultipartForm, name: String? = nil, headers: HTTPHeaders = [:]) -> Part {
            Part(name: name, fileName: nil, contentType: nil, headers: headers, content: .form(form))
        }
    }
}

extension MultipartForm.Part: CustomReflectable, RedactedMirror {
    /// The properties of the part without its content, which may be secret.
    package var shown: [Mirror.Child] {
        [
            ("name", name as Any), ("fileName", fileName as Any), ("contentType", contentType as Any),
            ("headers", headers),
        ]
    }
}
