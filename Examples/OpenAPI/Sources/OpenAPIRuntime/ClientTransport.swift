import Foundation
import HTTPTypes

/// A type that sends the requests of a generated client.
///
/// This file and `HTTPBody.swift` declare the part of the public interface of swift-openapi-runtime 1.x that the transport uses.
public protocol ClientTransport: Sendable {
    /// Sends a request and returns the response.
    ///
    /// - Parameters:
    ///   - request: The method, the path with the query, and the header fields.
    ///   - body: The body; nil for none.
    ///   - baseURL: The URL of the server, to which the path is appended.
    ///   - operationID: The name of the operation in the OpenAPI document.
    /// - Returns: The head of the response, whatever its status, and the body.
    /// - Throws: Any error, if there is no response.
    func send(
        _ request: HTTPRequest,
        body: HTTPBody?,
        baseURL: URL,
        operationID: String
    ) async throws -> (HTTPResponse, HTTPBody?)
}
