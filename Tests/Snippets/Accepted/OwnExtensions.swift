import Foundation
import Sluice
import SluiceTesting

// Members that programs declare themselves under the names of hints. The program's own are used.

extension Result {
    fileprivate var error: Failure? {
        if case .failure(let error) = self { error } else { nil }
    }
    fileprivate var value: Success? { try? get() }
}

extension APIError {
    fileprivate var isTimeout: Bool { [.timedOut, .connectTimedOut, .idleTimedOut].contains(code) }
    fileprivate var message: String { description }
    fileprivate var statusCode: Int? { status?.rawValue }
}

extension RequestFailure {
    fileprivate var statusCode: Int? { status?.rawValue }
}

extension SluiceError.Code {
    fileprivate static let offline: Set<SluiceError.Code> = [.cannotConnect, .cannotResolveHost]
}

extension HTTPStatus {
    fileprivate var isServerError: Bool { rawValue >= 500 }
}

extension HTTPRequest {
    fileprivate mutating func setHeader(_ name: HTTPHeaderName, _ value: String?) { headers[name] = value }
}

extension OAuth2 {
    fileprivate var isSignedIn: Bool { get async { (try? await token()) != nil } }
}

extension Stub {
    fileprivate static func status(_ code: Int) -> Stub { .status(HTTPStatus(code)) }
}

private struct OAuth2Token: Codable {
    var text: String
}

func ownMembersOfOutcomes(_ outcome: TransportOutcome) {
    print(outcome.error as Any, outcome.value?.body.count ?? 0)
}

func ownMembersOfErrors() async {
    do {
        show(try await shop.get("u", as: User.self).sender().value)
    } catch {
        print(error.isTimeout, error.message, error.statusCode as Any, error.status?.isServerError as Any)
        if SluiceError.Code.offline.contains(error.code) { print("offline") }
    }
}

func ownMembersOfRequests(_ request: inout HTTPRequest, _ oauth: OAuth2, _ code: Int) async {
    request.setHeader("X-Tenant", "a")
    print(await oauth.isSignedIn, OAuth2Token(text: "t"))
    show(shop.get("u", as: User.self).stub(.status(code)))
}

func ownMembersOfFailures() {
    struct Own: ErrorSerializable {
        let status: Int?
        init(_ failure: RequestFailure) { status = failure.statusCode }
    }
}
