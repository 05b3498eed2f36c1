import SluiceHTTP

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

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
            case file(URL)
            case stream(HTTPBody.Stream, length: Int64?, isReplayable: Bool)
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
        ) -> Part where Chunks.Element == Data {
            let stream = HTTPBody.Stream {
                var iterator = chunks.makeAsyncIterator()
                return { try await iterator.next() }
            }
            return Part(
                name: name,
                fileName: fileName,
                contentType: contentType ?? MediaType.forFileName(fileName ?? ""),
                headers: headers,
                content: .stream(stream, length: length, isReplayable: isReplayable)
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
        public static func nested(
            _ form: MultipartForm,
            name: String? = nil,
            headers: HTTPHeaders = [:]
        ) -> Part {
            Part(name: name, fileName: nil, contentType: nil, headers: headers, content: .form(form))
        }
    }
}
