import SluiceFoundation

extension HAR {
    /// The request of an exchange.
    public struct Request: Sendable, Hashable, Codable {
        /// The method.
        public var method: String
        /// The complete URL.
        public var url: String
        /// The protocol, such as `HTTP/1.1`; empty if it is not known.
        public var httpVersion: String
        /// The cookies of the `Cookie` header.
        public var cookies: [Cookie] = []
        /// The header fields in order, with those that the transport added, such as `Host`. A request that was not sent,
        /// or that has no response, has only its own fields.
        public var headers: [Parameter] = []
        /// The URL's query, decoded.
        public var queryString: [Parameter] = []
        /// The body; nil if there was none.
        public var postData: PostData?
        /// The length of the head in bytes; nil if it is not known.
        public var headersSize: Int?
        /// The length of the body in bytes; nil if it is not known.
        public var bodySize: Int?

        private enum CodingKeys: String, CodingKey {
            case method, url, httpVersion, cookies, headers, queryString, postData, headersSize, bodySize
        }

        /// Creates a request without headers and body.
        package init(method: String, url: String, httpVersion: String = "") {
            self.method = method
            self.url = url
            self.httpVersion = httpVersion
        }

        /// Decodes a request.
        public init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            method = try container.decode(String.self, forKey: .method)
            url = try container.decode(String.self, forKey: .url)
            httpVersion = try container.decodeIfPresent(String.self, forKey: .httpVersion) ?? ""
            cookies = try container.decodeIfPresent([Cookie].self, forKey: .cookies) ?? []
            headers = try container.decodeIfPresent([Parameter].self, forKey: .headers) ?? []
            queryString = try container.decodeIfPresent([Parameter].self, forKey: .queryString) ?? []
            postData = try container.decodeIfPresent(PostData.self, forKey: .postData)
            headersSize = try container.size(forKey: .headersSize)
            bodySize = try container.size(forKey: .bodySize)
        }

        /// Encodes the request.
        public func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode(method, forKey: .method)
            try container.encode(url, forKey: .url)
            try container.encode(httpVersion, forKey: .httpVersion)
            try container.encode(cookies, forKey: .cookies)
            try container.encode(headers, forKey: .headers)
            try container.encode(queryString, forKey: .queryString)
            try container.encodeIfPresent(postData, forKey: .postData)
            try container.encode(headersSize ?? -1, forKey: .headersSize)
            try container.encode(bodySize ?? -1, forKey: .bodySize)
        }
    }

    /// A name and a value: a header field, a query parameter, or a form field.
    public struct Parameter: Sendable, Hashable, Codable {
        /// The name.
        public var name: String
        /// The value.
        public var value: String
        /// The name of the file, for a form field that contains one.
        public var fileName: String?
        /// The file's content type.
        public var contentType: String?

        private enum CodingKeys: String, CodingKey {
            case name, value, fileName, contentType
        }

        /// Creates a parameter.
        package init(name: String, value: String) {
            self.name = name
            self.value = value
        }

        /// Decodes a parameter.
        public init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            name = try container.decodeIfPresent(String.self, forKey: .name) ?? ""
            value = try container.text(forKey: .value) ?? ""
            fileName = try container.decodeIfPresent(String.self, forKey: .fileName)
            contentType = try container.decodeIfPresent(String.self, forKey: .contentType)
        }
    }

    /// The body of a request.
    public struct PostData: Sendable, Hashable, Codable {
        /// The content type; empty if there is none.
        public var mimeType: String
        /// The fields of a form; empty for any other body.
        public var params: [Parameter] = []
        /// The body as text; empty for a form, and for a body that is not recorded.
        public var text = ""
        /// The encoding of `text`: `base64` for a binary body, nil for plain text. The format defines it for responses
        /// only, so it is written as `_encoding`. Some programs write `encoding`, which is read too.
        public var encoding: String?
        /// A comment, such as the reason why the body is missing.
        public var comment: String?

        private enum CodingKeys: String, CodingKey {
            case mimeType, params, text, comment
            case encoding = "_encoding"
        }

        private enum OtherKeys: String, CodingKey {
            case encoding
        }

        /// Creates a body without contents.
        package init(mimeType: String) {
            self.mimeType = mimeType
        }

        /// Decodes a body.
        public init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            mimeType = try container.decodeIfPresent(String.self, forKey: .mimeType) ?? ""
            params = try container.decodeIfPresent([Parameter].self, forKey: .params) ?? []
            text = try container.decodeIfPresent(String.self, forKey: .text) ?? ""
            let other = try decoder.container(keyedBy: OtherKeys.self)
            encoding =
                (try? container.decodeIfPresent(String.self, forKey: .encoding))
                ?? (try? other.decodeIfPresent(String.self, forKey: .encoding))
            comment = try container.decodeIfPresent(String.self, forKey: .comment)
        }
    }

    /// The response of an exchange.
    public struct Response: Sendable, Hashable, Codable {
        /// The status; 0 if no response was received.
        public var status: Int
        /// The reason phrase; empty if there was none.
        public var statusText = ""
        /// The protocol, such as `HTTP/1.1`; empty if it is not known.
        public var httpVersion: String
        /// The cookies that the server set.
        public var cookies: [Cookie] = []
        /// The header fields in order.
        public var headers: [Parameter] = []
        /// The body.
        public var content = Content()
        /// The target of a redirect; empty if the response is no redirect.
        public var redirectURL = ""
        /// The length of the head in bytes; nil if it is not known.
        public var headersSize: Int?
        /// The transferred length of the body in bytes; nil if it is not known.
        public var bodySize: Int?

        private enum CodingKeys: String, CodingKey {
            case status, statusText, httpVersion, cookies, headers, content, redirectURL, headersSize, bodySize
        }

        /// Creates a response without headers and body. Status 0 means that none was received.
        package init(status: Int = 0, httpVersion: String = "") {
            self.status = status
            self.httpVersion = httpVersion
        }

        /// Decodes a response.
        public init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            status = try container.integer(forKey: .status) ?? 0
            statusText = try container.decodeIfPresent(String.self, forKey: .statusText) ?? ""
            httpVersion = try container.decodeIfPresent(String.self, forKey: .httpVersion) ?? ""
            cookies = try container.decodeIfPresent([Cookie].self, forKey: .cookies) ?? []
            headers = try container.decodeIfPresent([Parameter].self, forKey: .headers) ?? []
            content = try container.decodeIfPresent(Content.self, forKey: .content) ?? Content()
            redirectURL = try container.decodeIfPresent(String.self, forKey: .redirectURL) ?? ""
            headersSize = try container.size(forKey: .headersSize)
            bodySize = try container.size(forKey: .bodySize)
        }

        /// Encodes the response.
        public func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode(status, forKey: .status)
            try container.encode(statusText, forKey: .statusText)
            try container.encode(httpVersion, forKey: .httpVersion)
            try container.encode(cookies, forKey: .cookies)
            try container.encode(headers, forKey: .headers)
            try container.encode(content, forKey: .content)
            try container.encode(redirectURL, forKey: .redirectURL)
            try container.encode(headersSize ?? -1, forKey: .headersSize)
            try container.encode(bodySize ?? -1, forKey: .bodySize)
        }
    }

    /// The body of a response.
    public struct Content: Sendable, Hashable, Codable {
        /// The decompressed length in bytes.
        public var size = 0
        /// The number of bytes saved by compression; nil if it is not known.
        public var compression: Int?
        /// The content type; empty if there is none.
        public var mimeType = ""
        /// The body as text; nil if it is not recorded.
        public var text: String?
        /// The encoding of `text`: `base64` for a binary body, nil for plain text.
        public var encoding: String?
        /// A comment, such as the reason why the body is missing.
        public var comment: String?

        private enum CodingKeys: String, CodingKey {
            case size, compression, mimeType, text, encoding, comment
        }

        /// Creates an empty body.
        package init() {}

        /// Decodes a body.
        public init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            size = try container.size(forKey: .size) ?? 0
            compression = try container.integer(forKey: .compression)
            mimeType = try container.decodeIfPresent(String.self, forKey: .mimeType) ?? ""
            text = try container.decodeIfPresent(String.self, forKey: .text)
            encoding = try container.decodeIfPresent(String.self, forKey: .encoding)
            comment = try container.decodeIfPresent(String.self, forKey: .comment)
        }
    }

    /// A cookie.
    public struct Cookie: Sendable, Hashable, Codable {
        /// The name.
        public var name: String
        /// The value.
        public var value: String
        /// The path to which the cookie is limited.
        public var path: String?
        /// The domain to which the cookie is limited.
        public var domain: String?
        /// The expiry date in ISO 8601, such as `2026-01-31T12:00:00.000Z`, of a cookie that Sluice recorded. Other
        /// programs write other forms too.
        public var expires: String?
        /// True if scripts cannot read the cookie.
        public var httpOnly: Bool?
        /// True if the cookie is sent over TLS only.
        public var secure: Bool?

        private enum CodingKeys: String, CodingKey {
            case name, value, path, domain, expires, httpOnly, secure
        }

        /// Creates a cookie.
        package init(name: String, value: String) {
            self.name = name
            self.value = value
        }

        /// Decodes a cookie.
        public init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            name = try container.decodeIfPresent(String.self, forKey: .name) ?? ""
            value = try container.decodeIfPresent(String.self, forKey: .value) ?? ""
            path = try container.decodeIfPresent(String.self, forKey: .path)
            domain = try container.decodeIfPresent(String.self, forKey: .domain)
            expires = try container.text(forKey: .expires)
            httpOnly = try container.decodeIfPresent(Bool.self, forKey: .httpOnly)
            secure = try container.decodeIfPresent(Bool.self, forKey: .secure)
        }
    }
}
