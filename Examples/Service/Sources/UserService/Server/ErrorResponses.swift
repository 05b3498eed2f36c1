import Hummingbird

extension User: ResponseEncodable {}
extension UserSummary: ResponseEncodable {}

extension UpstreamError: HTTPResponseError {
    var status: HTTPResponse.Status {
        switch kind {
        case .notFound: .notFound
        case .unavailable: .badGateway
        case .limited: .serviceUnavailable
        case .timedOut: .gatewayTimeout
        // Nobody reads this response. The status identifies such requests in logs.
        case .cancelled: HTTPResponse.Status(code: 499, reasonPhrase: "Client Closed Request")
        }
    }

    func response(from request: Request, context: some RequestContext) throws -> Response {
        var error = HTTPError(status, message: kind.message)
        if case .limited(let retryAfter?) = kind {
            error.headers = [.retryAfter: "\(retryAfter.components.seconds + 1)"]
        }
        return try error.response(from: request, context: context)
    }
}

extension UpstreamError.Kind {
    fileprivate var message: String {
        switch self {
        case .notFound: "There is no such user."
        case .unavailable: "The users are not available right now."
        case .limited: "The users are not available right now. Try again later."
        case .timedOut: "The request timed out."
        case .cancelled: "The request was cancelled."
        }
    }
}
