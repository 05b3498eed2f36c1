import HTTPTypes
import Sluice

// Both modules have an `HTTPRequest` and an `HTTPResponse`, so that each name has its module here.

extension HTTPTypes.HTTPRequest {
    /// Converts a request without its body, which swift-http-types keeps apart.
    ///
    /// - Parameter request: The request of Sluice.
    /// - Throws: A ``ConversionError`` for a part that swift-http-types does not accept.
    public init(_ request: Sluice.HTTPRequest) throws(ConversionError) {
        guard let method = Method(request.method.rawValue) else { throw .invalidMethod(request.method.rawValue) }
        try Self.check(":scheme", request.scheme)
        try Self.check(":authority", request.authority)
        try Self.check(":path", request.path)
        self.init(
            method: method,
            scheme: request.scheme,
            authority: request.authority,
            path: request.path,
            headerFields: try HTTPFields(request.headers)
        )
    }

    private static func check(_ name: String, _ value: String) throws(ConversionError) {
        // The initializer would replace characters.
        guard HTTPField.isValidValue(value) else { throw .invalidPseudoHeader(name) }
    }
}

extension Sluice.HTTPRequest {
    /// Converts a request.
    ///
    /// - Parameters:
    ///   - request: The request of swift-http-types. It needs a scheme, an authority and a path.
    ///   - body: The body, which swift-http-types keeps apart; none by default.
    /// - Throws: A ``ConversionError`` for a part that is missing, or that Sluice does not send.
    public init(_ request: HTTPTypes.HTTPRequest, body: RequestBody = .none) throws(ConversionError) {
        if request.extendedConnectProtocol != nil { throw .extendedConnect }
        guard let scheme = request.scheme else { throw .missingPseudoHeader(":scheme") }
        guard let authority = request.authority else { throw .missingPseudoHeader(":authority") }
        guard let path = request.path else { throw .missingPseudoHeader(":path") }
        guard ["http", "https"].contains(scheme.lowercased()) else { throw .invalidPseudoHeader(":scheme") }
        guard !authority.isEmpty else { throw .invalidPseudoHeader(":authority") }
        guard path.utf8.first == UInt8(ascii: "/") else { throw .invalidPseudoHeader(":path") }
        self.init(
            method: HTTPMethod(rawValue: request.method.rawValue),
            scheme: scheme.lowercased(),
            authority: authority,
            path: path,
            headers: try HTTPHeaders(request.headerFields),
            body: body
        )
    }
}

extension HTTPTypes.HTTPResponse {
    /// Converts the head of a response. Its version is lost, and the reason phrase is empty.
    ///
    /// - Parameter response: The head of Sluice.
    /// - Throws: A ``ConversionError`` for a status or a field that swift-http-types does not accept.
    public init(_ response: Sluice.HTTPResponse) throws(ConversionError) {
        let code = response.status.rawValue
        // Another number ends the process.
        guard (100...999).contains(code) else { throw .invalidStatus(code) }
        self.init(status: Status(code: code), headerFields: try HTTPFields(response.headers))
    }
}

extension Sluice.HTTPResponse {
    /// Converts the head of a response. Its reason phrase is lost.
    ///
    /// - Parameters:
    ///   - response: The head of swift-http-types.
    ///   - version: The version of HTTP, which swift-http-types does not have; 1.1 by default.
    /// - Throws: A ``ConversionError`` for a status or a field that Sluice does not accept.
    public init(_ response: HTTPTypes.HTTPResponse, version: HTTPVersion = .http1_1) throws(ConversionError) {
        guard (100...999).contains(response.status.code) else { throw .invalidStatus(response.status.code) }
        self.init(
            status: HTTPStatus(response.status.code),
            headers: try HTTPHeaders(response.headerFields),
            version: version
        )
    }
}
