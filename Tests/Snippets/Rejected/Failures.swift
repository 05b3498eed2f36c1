import Foundation
import Sluice

// Members of errors, as in other libraries.

private func failed(_ error: APIError) {}
private let apiError = APIError(RequestFailure(error: SluiceError(.timedOut, "")))

// error: Write "isCancellation".
func isCancelled() async {
    do { show(try await shop.get("u", as: User.self).sender().value) } catch {
        if !error.isCancelled { failed(error) }
    }
}

// error: Write "isCancellation".
func isCancelledOfAResponse() async {
    let response = await shop.get("u", as: User.self).sender().response
    if case .failure(let error) = response.result, !error.isCancelled { failed(error) }
}

// error: Compare the code: "error.code == .timedOut".
func isTimeout() async {
    do { show(try await shop.get("u", as: User.self).sender().value) } catch {
        if error.isTimeout { failed(error) }
    }
}

// error: Write "status", or "status?.rawValue" for a number.
func statusCode() async {
    do { show(try await shop.get("u", as: User.self).sender().value) } catch {
        if error.statusCode == 404 { failed(error) }
    }
}

// error: Write "status", or "status?.rawValue" for a number.
func statusCodeOfATypedError() async {
    struct Problem: Decodable, Sendable { let title: String }
    do { show(try await shop.get("u", as: User.self, error: TypedAPIError<Problem>.self).sender().value) } catch {
        print(error.statusCode as Any)
    }
}

// error: Write "description". The body has the API's own message
func message() {
    print(apiError.message)
}

// error: Write "body".
func bodyAsData() {
    print(apiError.data)
}

// error: Write "body".
func responseBody() {
    print(apiError.responseBody)
}

// error: Write "error.step".
func stepOfAnAPIError() {
    print(apiError.step)
}

// error: catch { switch error.code
func staticCodeAsAPattern() async {
    do { show(try await shop.get("u", as: User.self).sender().value) } catch SluiceError.timedOut {
        print("slow")
    } catch {
        print(error)
    }
}

// error: catch { switch error.code
func staticCodeOfACancellation() async {
    do { show(try await shop.get("u", as: User.self).sender().value) } catch SluiceError.cancelled {
        print("slow")
    } catch {
        print(error)
    }
}

// error: Read the envelope of the failure, or of an APIError: "failure.envelope".
func envelopeOfTheError() {
    struct Business: ErrorSerializable {
        let text: String?
        init(_ failure: RequestFailure) { text = failure.error.envelope?.message }
    }
}

// error: Write "status", or "status?.rawValue" for a number.
func statusCodeOfAnError() {
    print(apiError.error.statusCode as Any)
}

// error: Write "status", or "status?.rawValue" for a number.
func statusCodeOfAFailure() {
    struct Own: ErrorSerializable {
        let status: Int?
        init(_ failure: RequestFailure) { status = failure.statusCode }
    }
}

// error: Write "error.code".
func codeOfAFailure() {
    struct Own: ErrorSerializable {
        let code: SluiceError.Code
        init(_ failure: RequestFailure) { code = failure.code }
    }
}

// error: Write "error.description". The body has the API's own message
func messageOfAFailure() {
    struct Own: ErrorSerializable {
        let text: String
        init(_ failure: RequestFailure) { text = failure.message }
    }
}

// error: Compare the status: "error.status == .unauthorized".
func unauthorizedCode() {
    switch apiError.code {
    case .unauthorized: print("sign in")
    default: break
    }
}

// error: Compare the status: "error.status == .notFound".
func notFoundCode() {
    if apiError.code == .notFound { print("none") }
}

// error: Without a network the code is ".cannotConnect" or ".cannotResolveHost".
func offlineCode() {
    switch apiError.code {
    case .offline: print("offline")
    default: break
    }
}

// error: Without a network the code is ".cannotConnect" or ".cannotResolveHost".
func notConnectedCode() {
    if apiError.code == .notConnected { print("offline") }
}

// error: Write ".timedOut".
func timeoutCode() {
    if apiError.code == .timeout { print("slow") }
}

// error: Write "error.isCancellation".
func failureIsCancelled() {
    show({ (failure: RequestFailure) in failure.isCancelled })
}

// error: Compare the code: "error.code == .timedOut".
func failureIsTimeout() {
    show({ (failure: RequestFailure) in failure.isTimeout })
}

// error: Write "try decoded(as: Problem.self)".
func failureDecode() {
    show({ (failure: RequestFailure) in try failure.decode(User.self) })
}

// error: Without a network the code is ".cannotConnect" or ".cannotResolveHost".
func noInternet() {
    show({ (error: SluiceError) in error.code == .noInternet })
}

// error: Write ".cannotConnect".
func connectionRefused() {
    show({ (error: SluiceError) in error.code == .connectionRefused })
}
