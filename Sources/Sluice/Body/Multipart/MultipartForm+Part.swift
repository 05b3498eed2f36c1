import SluiceHTTP

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension MultipartForm {
    /// One part of a form: a head and its content.
    ///
    /// ```swift
    /// let form: MultipartForm = [.text("Ada", name: "user"), .file(picture, name: "picture")]
    /// ```
    ///
    /// A name is needed in form-data. In other forms a part with a name or a file name is called an `attachment` of
    /// these, and one without is only its type and content.
    ///
    /// The extra headers of a part stand behind its own and replace those of the same name. Receivers of form-data pass
    /// over them (RFC 7578 §4.8).
    public struct Part: Sendable {
        enum Content: Sendable {
            case data(Data)
            case file(URL)
            case stream(HTTPBody.Stream, length: Int64?, isReplayable: Bool)
            case form(MultipartForm)
            /// Stands for a form that holds too many within each other.
            case tooDeep
        }

        let name: String?
        let fileName: String?
        let contentType: String?
        let headers: HTTPHeaders
        var content: Content

        /// A text, in UTF-8 and with its line breaks as they are.
        ///
        /// - Parameters:
        ///   - text: The content; it may be empty.
        ///   - name: The field's name.
        ///   - fileName: A file name, none by default.
        ///   - contentType: The part's type; none by default, as browsers do, which stands for plain text (RFC
        ///     7578 §4.4).
        ///   - headers: Extra headers.
        /// - Returns: A part of the text's bytes.
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

        /// Bytes in memory.
        ///
        /// - Parameters:
        ///   - data: The content; it may be empty.
        ///   - name: The field's name.
        ///   - fileName: A file name, none by default.
        ///   - contentType: The part's type; that of the file name's extension by default, else
        ///     `application/octet-stream`.
        ///   - headers: Extra headers.
        /// - Returns: A part of the bytes.
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

        /// A file, opened when its turn comes and read in pieces.
        ///
        /// - Parameters:
        ///   - url: Where it is; it must be a regular file that can be read when the request is sent.
        ///   - name: The field's name.
        ///   - fileName: The file name to send; the URL's last component by default.
        ///   - contentType: The part's type; that of the file name's extension by default, else
        ///     `application/octet-stream`.
        ///   - headers: Extra headers.
        /// - Returns: A part of the file's bytes.
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

        /// Chunks as they come from an asynchronous sequence, read when their turn comes and no faster than the network
        /// takes them; each goes out without waiting for the next.
        ///
        /// - Parameters:
        ///   - chunks: The content in pieces of any size; an error it throws fails the request.
        ///   - length: The exact number of bytes in all. Without it the length of the whole body is not known.
        ///   - name: The field's name.
        ///   - fileName: A file name, none by default.
        ///   - contentType: The part's type; that of the file name's extension by default, else
        ///     `application/octet-stream`.
        ///   - headers: Extra headers.
        ///   - isReplayable: Whether a new iterator begins again at the first byte. False by default.
        /// - Returns: A part of the chunks' bytes.
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

        /// A form within the form; form-data is sent as `multipart/mixed` there, since its fields would have no
        /// meaning.
        ///
        /// - Parameters:
        ///   - form: The content; its boundary must be another.
        ///   - name: The field's name.
        ///   - headers: Extra headers; the type is the form's own.
        /// - Returns: A part of the form's parts.
        public static func nested(
            _ form: MultipartForm,
            name: String? = nil,
            headers: HTTPHeaders = [:]
        ) -> Part {
            Part(name: name, fileName: nil, contentType: nil, headers: headers, content: .form(form))
        }
    }
}
