import SluiceFoundation

extension HAR {
    /// The request of an exchange.
    public struct Request: Sendable, Hashable, Codable {
        /// The method.
        public var method: String
        /// The complete URL.
        public var url: String
        /// The protocol, such as `HTTP/1.1`; empty if it is not known.
        public var httpVersion = ""
        /// The cookies of the `Cookie` header.
        package var cookies: [Cookie] = []
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
    }

    /// The response of an exchange.
    public struct Response: Sendable, Hashable, Codable {
        /// The status; 0 if no response was received.
        public var status = 0
        /// The reason phrase; empty if there was none.
        public var statusText = ""
        /// The protocol, such as `HTTP/1.1`; empty if it is not known.
        public var httpVersion = ""
        /// The cookies that the server set.
        package var cookies: [Cookie] = []
        /// The header fields in order.
        public var headers: [Parameter] = []
        /// The body.
        public var content = Content()
        /// The URL that a redirect leads to if it was followed, and otherwise the value of `Location`; empty without one.
        public var redirectURL = ""
        /// The length of the head in bytes; nil if it is not known.
        public var headersSize: Int?
        /// The transferred length of the body in bytes; nil if it is not known.
        public var bodySize: Int?

        private enum CodingKeys: String, CodingKey {
            case status, statusText, httpVersion, cookies, headers, content, redirectURL, headersSize, bodySize
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
    }

    package struct Cookie: Sendable, Hashable, Codable {
        package var name: String
        package var value: String
        /// The path to which the cookie is limited.
        package var path: String?
        /// The domain to which the cookie is limited.
        package var domain: String?
        /// The expiry date in ISO 8601, such as `2026-01-31T12:00:00.000Z`, of a cookie that Sluice recorded. Other
        /// programs write other forms too.
        package var expires: String?
        /// True if scripts cannot read the cookie.
        package var httpOnly: Bool?
        /// True if the cookie is sent over TLS only.
        package var secure: Bool?
    }
}

// MARK: - HAR entry

extension HAR {
    /// One exchange: a request that was sent and its outcome. A repeated attempt and a redirect that is followed are
    /// exchanges of their own.
    ///
    /// Fields that the format does not define begin with an underscore in the file: `_requestID`, `_attempt`, `_hop`,
    /// `_route`, `_fromRetry`, `_hedged`, `_gates`, `_error`.
    public struct Entry: Sendable, Hashable, Codable {
        /// The ID of the page that the entry belongs to.
        public var pageref: String?
        /// The time at which the exchange began.
        public var startedDateTime: Date
        /// The total time in milliseconds: the sum of the timings.
        public var time: Double
        /// The request that was sent.
        public var request: Request
        /// The response; status 0 if none was received.
        public var response: Response
        /// The durations of the phases.
        public var timings: Timings
        /// The server's address without port.
        public var serverIPAddress: String?
        /// The ID of the connection, or the server's port if no ID is known.
        public var connection: String?
        /// A comment.
        public var comment: String?
        /// The ID shared by all exchanges of one request.
        public var requestID: Int?
        /// The number of the attempt, starting at 1.
        public var attempt: Int?
        /// The number of redirects followed before this exchange, within the attempt.
        public var redirectCount: Int?
        /// The route that requests of the same kind share.
        public var route: String?
        /// True if the exchange repeats a failed attempt.
        public var isFromRetry: Bool?
        /// True if the exchange ran in parallel with a slow attempt.
        public var isHedged: Bool?
        /// The times spent at gates.
        package var waits: [Wait]?
        /// The reason why there is no response, or why it was not accepted.
        public var error: String?

        private enum CodingKeys: String, CodingKey {
            case pageref, startedDateTime, time, request, response, cache, timings, serverIPAddress, connection, comment
            case requestID = "_requestID"
            case attempt = "_attempt"
            case redirectCount = "_hop"
            case route = "_route"
            case isFromRetry = "_fromRetry"
            case isHedged = "_hedged"
            case waits = "_gates"
            case error = "_error"
        }

        /// A time spent waiting.
        package struct Wait: Sendable, Hashable, Codable {
            package var name: String
            /// The duration in milliseconds.
            package var time: Double
        }

        /// The name of each gate that the exchange waited at, in order, and the milliseconds spent there.
        public var gates: [(name: String, milliseconds: Double)] {
            (waits ?? []).map { (name: $0.name, milliseconds: $0.time) }
        }

        /// Creates an entry whose total time is the sum of its timings.
        init(startedDateTime: Date, request: Request, response: Response = Response(), timings: Timings = Timings()) {
            self.startedDateTime = startedDateTime
            self.request = request
            self.response = response
            self.timings = timings
            time = timings.total
        }

        /// Decodes an entry.
        public init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            pageref = try container.decodeIfPresent(String.self, forKey: .pageref)
            startedDateTime = try container.date(forKey: .startedDateTime)
            request = try container.decode(Request.self, forKey: .request)
            response = try container.decodeIfPresent(Response.self, forKey: .response) ?? Response()
            timings = try container.decodeIfPresent(Timings.self, forKey: .timings) ?? Timings()
            time = try container.positive(forKey: .time) ?? timings.total
            serverIPAddress = try container.decodeIfPresent(String.self, forKey: .serverIPAddress)
            connection = try container.text(forKey: .connection)
            comment = try container.decodeIfPresent(String.self, forKey: .comment)
            // Other programs may use these fields with another meaning.
            requestID = try? container.integer(forKey: .requestID)
            attempt = try? container.integer(forKey: .attempt)
            redirectCount = try? container.integer(forKey: .redirectCount)
            route = try? container.decodeIfPresent(String.self, forKey: .route)
            isFromRetry = try? container.decodeIfPresent(Bool.self, forKey: .isFromRetry)
            isHedged = try? container.decodeIfPresent(Bool.self, forKey: .isHedged)
            waits = try? container.decodeIfPresent([Wait].self, forKey: .waits)
            error = try? container.decodeIfPresent(String.self, forKey: .error)
        }

        /// Encodes the entry.
        public func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encodeIfPresent(pageref, forKey: .pageref)
            try container.encode(HARDate.text(of: startedDateTime), forKey: .startedDateTime)
            try container.encode(time, forKey: .time)
            try container.encode(request, forKey: .request)
            try container.encode(response, forKey: .response)
            try container.encode([String: String](), forKey: .cache)
            try container.encode(timings, forKey: .timings)
            try container.encodeIfPresent(serverIPAddress, forKey: .serverIPAddress)
            try container.encodeIfPresent(connection, forKey: .connection)
            try container.encodeIfPresent(comment, forKey: .comment)
            try container.encodeIfPresent(requestID, forKey: .requestID)
            try container.encodeIfPresent(attempt, forKey: .attempt)
            try container.encodeIfPresent(redirectCount, forKey: .redirectCount)
            try container.encodeIfPresent(route, forKey: .route)
            try container.encodeIfPresent(isFromRetry, forKey: .isFromRetry)
            try container.encodeIfPresent(isHedged, forKey: .isHedged)
            try container.encodeIfPresent(waits, forKey: .waits)
            try container.encodeIfPresent(error, forKey: .error)
        }
    }

    /// The durations of the phases of an exchange, in milliseconds. Phases that do not apply are nil, and -1 in the
    /// file.
    public struct Timings: Sendable, Hashable, Codable {
        /// The time before the exchange started: waiting for gates and for a connection.
        public var blocked: Double?
        /// The time to resolve the host name.
        public var dns: Double?
        /// The time to connect, including the TLS handshake.
        public var connect: Double?
        /// The time of the TLS handshake, which `connect` includes.
        public var ssl: Double?
        /// The time to send the request.
        public var send: Double = 0
        /// The time to the first byte of the response.
        public var wait: Double = 0
        /// The time to receive the response.
        public var receive: Double = 0

        private enum CodingKeys: String, CodingKey {
            case blocked, dns, connect, ssl, send, wait, receive
        }

        /// The sum of all phases, with `ssl` counted once.
        package var total: Double {
            (blocked ?? 0) + (dns ?? 0) + (connect ?? 0) + send + wait + receive
        }
    }
}

// MARK: - Coding

// In extensions, so that the types keep the initializers of their members.

extension HAR.Request {
    /// Decodes a request.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        method = try container.decode(String.self, forKey: .method)
        url = try container.decode(String.self, forKey: .url)
        httpVersion = try container.decodeIfPresent(String.self, forKey: .httpVersion) ?? ""
        cookies = try container.decodeIfPresent([HAR.Cookie].self, forKey: .cookies) ?? []
        headers = try container.decodeIfPresent([HAR.Parameter].self, forKey: .headers) ?? []
        queryString = try container.decodeIfPresent([HAR.Parameter].self, forKey: .queryString) ?? []
        postData = try container.decodeIfPresent(HAR.PostData.self, forKey: .postData)
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

extension HAR.Parameter {
    /// Decodes a parameter.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        name = try container.decodeIfPresent(String.self, forKey: .name) ?? ""
        value = try container.text(forKey: .value) ?? ""
        fileName = try container.decodeIfPresent(String.self, forKey: .fileName)
        contentType = try container.decodeIfPresent(String.self, forKey: .contentType)
    }
}

extension HAR.PostData {
    /// Decodes a body.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        mimeType = try container.decodeIfPresent(String.self, forKey: .mimeType) ?? ""
        params = try container.decodeIfPresent([HAR.Parameter].self, forKey: .params) ?? []
        text = try container.decodeIfPresent(String.self, forKey: .text) ?? ""
        let other = try decoder.container(keyedBy: OtherKeys.self)
        encoding =
            (try? container.decodeIfPresent(String.self, forKey: .encoding))
            ?? (try? other.decodeIfPresent(String.self, forKey: .encoding))
        comment = try container.decodeIfPresent(String.self, forKey: .comment)
    }
}

extension HAR.Response {
    /// Decodes a response.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        status = try container.integer(forKey: .status) ?? 0
        statusText = try container.decodeIfPresent(String.self, forKey: .statusText) ?? ""
        httpVersion = try container.decodeIfPresent(String.self, forKey: .httpVersion) ?? ""
        cookies = try container.decodeIfPresent([HAR.Cookie].self, forKey: .cookies) ?? []
        headers = try container.decodeIfPresent([HAR.Parameter].self, forKey: .headers) ?? []
        content = try container.decodeIfPresent(HAR.Content.self, forKey: .content) ?? HAR.Content()
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

extension HAR.Content {
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

extension HAR.Cookie {
    /// Decodes a cookie.
    package init(from decoder: any Decoder) throws {
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

extension HAR.Timings {
    /// Decodes timings.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        blocked = try container.positive(forKey: .blocked)
        dns = try container.positive(forKey: .dns)
        connect = try container.positive(forKey: .connect)
        ssl = try container.positive(forKey: .ssl)
        send = try container.positive(forKey: .send) ?? 0
        wait = try container.positive(forKey: .wait) ?? 0
        receive = try container.positive(forKey: .receive) ?? 0
    }

    /// Encodes the timings.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(blocked ?? -1, forKey: .blocked)
        try container.encode(dns ?? -1, forKey: .dns)
        try container.encode(connect ?? -1, forKey: .connect)
        try container.encode(ssl ?? -1, forKey: .ssl)
        try container.encode(send, forKey: .send)
        try container.encode(wait, forKey: .wait)
        try container.encode(receive, forKey: .receive)
    }
}
