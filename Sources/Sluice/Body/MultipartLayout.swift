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
