import Sluice
import SluiceFoundation
import SluiceHTTP
import SluiceLibc

/// Computes the digest by which a cassette compares a body that is too long to be held in memory.
///
/// The digest of a multipart form (RFC 2046 §5.1.1) does not depend on its boundary, which is usually random, and not on
/// the contents of its secret parts. The digest of any other body is that of its bytes.
struct BodyDigester {
    private let digest = SHA256Stream()
    private var length: Int64 = 0
    private var form: FormNormalizer?

    /// Creates a digester.
    ///
    /// - Parameters:
    ///   - headers: The header fields that describe the body.
    ///   - redaction: The rules that find secret parts.
    init(_ headers: HTTPHeaders, _ redaction: CassetteRedaction) {
        guard let type = headers[.contentType].flatMap(ContentType.init), type.type == "multipart",
            let boundary = type["boundary"], !boundary.isEmpty, !headers.hasContentCoding
        else { return }
        form = FormNormalizer(boundary: boundary, redaction)
    }

    mutating func append(_ piece: Data) {
        guard form != nil else { return take(piece) }
        for normalized in form?.append(piece) ?? [] { take(normalized) }
    }

    /// Ends the body, and returns the digest of its normalized form.
    ///
    /// - Throws: A ``SluiceError`` if the system library does not provide SHA-256.
    mutating func finish() throws(SluiceError) -> BodyDigest {
        for normalized in form?.finish() ?? [] { take(normalized) }
        guard let text = digest.hexDigest, let digest = BodyDigest(length: length, sha256: text) else {
            throw SluiceError(.unsupported, "The system library does not provide SHA-256.")
        }
        return digest
    }

    private mutating func take(_ piece: Data) {
        length += Int64(piece.count)
        digest.append(piece)
    }
}

/// Rewrites a multipart form that arrives in pieces, with a fixed boundary and without secrets.
///
/// ```
/// preamble ──▶ delimiter ──▶ head ──▶ content ──▶ delimiter …
///                  └──▶ epilogue
/// ```
///
/// It holds the head and the first bytes of one part in memory. Bytes in which it finds no part pass unchanged.
struct FormNormalizer {
    private enum Phase {
        case preamble, delimiter, head, content, epilogue
    }

    /// The maximum length of a head, and of a part that is searched for secrets.
    static let partLimit = 64 << 10

    private let redaction: CassetteRedaction
    private let delimiter: [UInt8]
    private var phase = Phase.preamble
    private var buffer: [UInt8]
    private var head: [UInt8] = []
    /// The beginning of the content; nil once the part is too long to be searched.
    private var content: Data?

    init(boundary: String, _ redaction: CassetteRedaction) {
        self.redaction = redaction
        delimiter = Array("\r\n--\(boundary)".utf8)
        // The first boundary may be at the very start, without a line break before it.
        buffer = [13, 10]
    }

    /// Processes a piece, and returns the normalized bytes that are known by now.
    mutating func append(_ piece: Data) -> [Data] {
        buffer.append(contentsOf: piece)
        var output: [Data] = []
        var position = 0
        while process(&position, &output) {}
        buffer.removeFirst(position)
        return output
    }

    /// Ends the form, and returns the rest.
    mutating func finish() -> [Data] {
        var output: [Data] = []
        if phase == .content {
            take(buffer[...], &output)
            endPart(&output)
        } else {
            output.append(Data(buffer))
        }
        buffer = []
        phase = .epilogue
        return output
    }

    /// Processes the bytes up to the next change of phase. Returns false if more input is needed.
    private mutating func process(_ position: inout Int, _ output: inout [Data]) -> Bool {
        let rest = buffer[position...]
        switch phase {
        case .preamble, .content:
            if let next = Self.offset(of: delimiter, in: rest) {
                take(buffer[position..<next], &output)
                if phase == .content { endPart(&output) }
                position = next + delimiter.count
                phase = .delimiter
                return true
            }
            // The end may be the beginning of a delimiter.
            let end = max(position, buffer.count - delimiter.count + 1)
            take(buffer[position..<end], &output)
            position = end
            return false
        case .delimiter:
            guard rest.count >= 2 else { return false }
            phase = rest.starts(with: "--".utf8) ? .epilogue : .head
            return true
        case .head:
            let next = Self.offset(of: Array("\r\n\r\n".utf8), in: rest)
            // The same heads are too long however the form is split.
            if (next ?? buffer.count - 3) - position > Self.partLimit {
                phase = .epilogue
                return true
            }
            guard let next else { return false }
            head = Array(buffer[position..<next])
            content = Data()
            output.append(Data("\r\n--".utf8 + head + "\r\n\r\n".utf8))
            position = next + 4
            phase = .content
            return true
        case .epilogue:
            if !rest.isEmpty { output.append(Data(rest)) }
            position = buffer.count
            return false
        }
    }

    /// Takes bytes of the preamble or of a content.
    private mutating func take(_ bytes: ArraySlice<UInt8>, _ output: inout [Data]) {
        guard !bytes.isEmpty else { return }
        guard phase == .content else { return output.append(Data(bytes)) }
        guard let start = content else {
            if !redaction.hidesPart(head[...]) { output.append(Data(bytes)) }
            return
        }
        guard start.count + bytes.count > Self.partLimit else {
            content?.append(contentsOf: bytes)
            return
        }
        content = nil
        if redaction.hidesPart(head[...]) {
            output.append(Data(CassetteRedaction.mark.utf8))
        } else {
            output.append(start)
            output.append(Data(bytes))
        }
    }

    private mutating func endPart(_ output: inout [Data]) {
        guard let whole = content.take() else { return }
        output.append(redaction.redacted(whole, head: head[...]))
    }

    private static func offset(of pattern: [UInt8], in bytes: ArraySlice<UInt8>) -> Int? {
        let offset: Int? = bytes.withUnsafeBytes { bytes in
            var start = 0
            // All patterns begin with a carriage return, which is rare in most contents.
            while start + pattern.count <= bytes.count, let base = bytes.baseAddress,
                let found = memchr(base + start, 13, bytes.count - pattern.count + 1 - start)
            {
                let offset = UnsafeRawPointer(found) - base
                if memcmp(base + offset, pattern, pattern.count) == 0 { return offset }
                start = offset + 1
            }
            return nil
        }
        return offset.map { $0 + bytes.startIndex }
    }
}
