import SluiceHTTP

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension MultipartForm {
    /// Adds a text, in UTF-8 and with its line breaks as they are.
    ///
    /// - Parameters:
    ///   - text: The content; it may be empty.
    ///   - name: The field's name.
    ///   - fileName: A file name, none by default.
    ///   - contentType: The part's type; none by default, as browsers and curl do, which stands for plain text (RFC
    ///     7578 §4.4).
    ///   - headers: Extra headers.
    public mutating func append(
        _ text: String,
        name: String? = nil,
        fileName: String? = nil,
        contentType: String? = nil,
        headers: HTTPHeaders = [:]
    ) {
        append(.text(text, name: name, fileName: fileName, contentType: contentType, headers: headers))
    }

    /// Adds bytes in memory.
    ///
    /// - Parameters:
    ///   - data: The content; it may be empty.
    ///   - name: The field's name.
    ///   - fileName: A file name, none by default.
    ///   - contentType: The part's type; that of the file name's extension by default, else `application/octet-stream`.
    ///   - headers: Extra headers.
    public mutating func append(
        _ data: Data,
        name: String? = nil,
        fileName: String? = nil,
        contentType: String? = nil,
        headers: HTTPHeaders = [:]
    ) {
        append(.data(data, name: name, fileName: fileName, contentType: contentType, headers: headers))
    }

    /// Adds a file, opened when its turn comes and read in pieces.
    ///
    /// - Parameters:
    ///   - url: Where it is; it must be a regular file that can be read when the request is sent.
    ///   - name: The field's name.
    ///   - fileName: The file name to send; the URL's last component by default.
    ///   - contentType: The part's type; that of the file name's extension by default, else `application/octet-stream`.
    ///   - headers: Extra headers.
    public mutating func append(
        file url: URL,
        name: String? = nil,
        fileName: String? = nil,
        contentType: String? = nil,
        headers: HTTPHeaders = [:]
    ) {
        append(.file(url, name: name, fileName: fileName, contentType: contentType, headers: headers))
    }

    /// Adds chunks as they come from an asynchronous sequence, read no faster than the network takes them.
    ///
    /// - Parameters:
    ///   - chunks: The content in pieces of any size; an error it throws fails the request.
    ///   - length: The exact number of bytes in all. Without it the length of the whole body is not known.
    ///   - name: The field's name.
    ///   - fileName: A file name, none by default.
    ///   - contentType: The part's type; that of the file name's extension by default, else `application/octet-stream`.
    ///   - headers: Extra headers.
    ///   - isReplayable: Whether a new iterator begins again at the first byte. False by default.
    public mutating func append<Chunks: AsyncSequence & Sendable>(
        stream chunks: Chunks,
        length: Int64? = nil,
        name: String? = nil,
        fileName: String? = nil,
        contentType: String? = nil,
        headers: HTTPHeaders = [:],
        isReplayable: Bool = false
    ) where Chunks.Element == Data {
        append(
            .stream(
                chunks,
                length: length,
                name: name,
                fileName: fileName,
                contentType: contentType,
                headers: headers,
                isReplayable: isReplayable
            )
        )
    }

    /// Adds a form within the form; form-data is sent as `multipart/mixed` there.
    ///
    /// - Parameters:
    ///   - form: The content; its boundary must be another.
    ///   - name: The field's name.
    ///   - headers: Extra headers; the type is the form's own.
    public mutating func append(nested form: MultipartForm, name: String? = nil, headers: HTTPHeaders = [:]) {
        append(.nested(form, name: name, headers: headers))
    }
}
