#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension DecodingFailure {
    /// Creates the failure of a ``JSONDecodable`` model.
    init(_ type: Any.Type, body: Data, failure: JSONDecodingFailure) {
        self.init(type, body: body, path: failure.path.description, reason: failure.reason, cause: failure)
    }

    /// Creates the failure of a body that is not JSON.
    init(_ type: Any.Type, body: Data, error: JSONSyntaxError) {
        let place = "line \(error.line), column \(error.column)"
        let reason = body.isEmpty ? "the body is empty" : "it is not JSON, \(error.reason) (\(place))"
        self.init(type, body: body, path: "", reason: reason, cause: error)
    }

    private init(_ type: Any.Type, body: Data, path: String, reason: String, cause: any Error) {
        self.type = "\(type)"
        self.cause = cause
        self.reason = reason
        codingPath = path
        bodyPrefix = Self.beginning(of: body)
    }
}
