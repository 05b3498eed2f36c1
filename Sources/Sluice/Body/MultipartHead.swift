import SluiceFoundation
import SluiceHTTP

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
                "The header “\(field.name.rawValue.printable)” of the part \(label) cannot be sent: its name must be a token, and its value must not contain CR, LF or NUL.",
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

    /// Escapes a file name.
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

extension String {
    /// The first 64 characters with control characters replaced, for use in a one-line message.
    var printable: String {
        let scalars = unicodeScalars.prefix(64).map { $0.value < 0x20 || (0x7F..<0xA0).contains($0.value) ? "?" : $0 }
        return String(String.UnicodeScalarView(scalars))
    }
}
