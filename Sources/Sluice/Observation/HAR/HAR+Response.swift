#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension HAR {
    /// What came back.
    public struct Response: Sendable, Hashable, Codable {
        /// The status; 0 if no response came.
        public var status: Int
        /// The words behind the status, where there were any.
        public var statusText = ""
        /// The protocol, `HTTP/1.1`; empty if it is not known.
        public var httpVersion: String
        /// The cookies that the server set.
        public var cookies: [Cookie] = []
        /// The header fields in their order.
        public var headers: [Parameter] = []
        /// The body.
        public var content = Content()
        /// Where a redirect leads; empty if it is none.
        public var redirectURL = ""
        /// Bytes of the head; nil if that is not known.
        public var headersSize: Int?
        /// Bytes of the body as it travelled; nil if that is not known.
        public var bodySize: Int?

        private enum CodingKeys: String, CodingKey {
            case status, statusText, httpVersion, cookies, headers, content, redirectURL, headersSize, bodySize
        }

        /// Makes a response without headers and body; status 0 stands for none at all.
        public init(status: Int = 0, httpVersion: String = "") {
            self.status = status
            self.httpVersion = httpVersion
        }

        /// Reads a response.
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

        /// Writes the response.
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
        /// Bytes, decompressed.
        public var size = 0
        /// Bytes saved by compression; nil if that is not known.
        public var compression: Int?
        /// Its content type; empty if it has none.
        public var mimeType = ""
        /// The body as text; nil if it is not kept.
        public var text: String?
        /// How `text` is encoded: `base64` for a body that is no text, nil for one that is.
        public var encoding: String?
        /// A remark, as to why the body is not there.
        public var comment: String?

        private enum CodingKeys: String, CodingKey {
            case size, compression, mimeType, text, encoding, comment
        }

        /// Makes an empty one.
        public init() {}

        /// Reads one.
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
        /// Its name.
        public var name: String
        /// Its value.
        public var value: String
        /// The path it is for.
        public var path: String?
        /// The host it is for.
        public var domain: String?
        /// When it ends, as the recorder wrote it.
        public var expires: String?
        /// Whether scripts may not see it.
        public var httpOnly: Bool?
        /// Whether it is sent by TLS only.
        public var secure: Bool?

        private enum CodingKeys: String, CodingKey {
            case name, value, path, domain, expires, httpOnly, secure
        }

        /// Makes one.
        public init(name: String, value: String) {
            self.name = name
            self.value = value
        }

        /// Reads one.
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
