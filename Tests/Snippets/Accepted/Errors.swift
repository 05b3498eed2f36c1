import Foundation
import Sluice

// Errors of requests, caught and matched. Compiled as far as SIL: Swift 6.3 fails only there on a `catch` it cannot emit.

struct CodedError: ErrorSerializable {
    let code: SluiceError.Code
    let status: HTTPStatus?

    init(_ failure: RequestFailure) {
        code = failure.error.code
        status = failure.response?.status
    }
}

enum AccountError: ErrorSerializable {
    case timedOut
    case refused(HTTPStatus)
    case other(String)

    init(_ failure: RequestFailure) {
        self =
            switch (failure.error.code, failure.response?.status) {
            case (.timedOut, _): .timedOut
            case (_, let status?): .refused(status)
            default: .other(failure.error.description)
            }
    }
}

func typedErrorWithoutCast() async {
    do {
        let user: User = try await shop.get("users/1").sender().value
        show(user)
    } catch {
        print(error.code, error.status ?? 0, error.body.count, error.isCancellation)
    }
}

func switchOverTheCode() async throws -> User? {
    do {
        return try await shop.get("users/1").sender().value
    } catch {
        switch error.code {
        case .timedOut, .connectTimedOut, .idleTimedOut: return nil
        default: throw error
        }
    }
}

func switchOverTheCodeInALoop() async throws -> User? {
    var attempts = 0
    while attempts < 3 {
        do {
            return try await shop.get("users/1").sender().value
        } catch {
            switch error.code {
            case .timedOut: attempts += 1
            case .cancelled: return nil
            default: throw error
            }
        }
    }
    return nil
}

func switchOverTheStatus() async throws -> User? {
    do {
        return try await shop.get("users/1").sender().value
    } catch {
        switch error.status {
        case .notFound: return nil
        case 409: return nil
        default: throw error
        }
    }
}

func conditionalClauseBeforeAFinalOne() async {
    var failures = 0
    for id in 1...3 {
        do {
            let user: User = try await shop.get("users/\(id)").sender().value
            show(user)
        } catch  where error.code == .timedOut {
            failures += 1
        } catch  where error.isCancellation {
            return
        } catch {
            print(error)
        }
    }
    print(failures)
}

func namedErrorInAClause() async {
    do {
        let user: User = try await shop.get("users/1").sender().value
        show(user)
    } catch let failure where failure.code == .timedOut {
        print(failure)
    } catch {
        print(error)
    }
}

func rethrownToAFunctionWithTheSameError() async throws(APIError) -> User? {
    var attempts = 0
    while attempts < 3 {
        do {
            return try await shop.get("users/1").sender().value
        } catch  where error.code == .timedOut {
            attempts += 1
        }
    }
    return nil
}

func wrappedInAnOptional() async -> User? {
    try? await shop.get("users/1").sender().value
}

func ownErrorWithACode() async throws -> User? {
    do {
        return try await shop.get("users/1", error: CodedError.self).sender().value
    } catch {
        switch (error.code, error.status) {
        case (.timedOut, _), (_, .notFound): return nil
        default: throw error
        }
    }
}

func ownEnumWithoutAFinalClause() async throws -> User? {
    for id in 1...3 {
        do {
            return try await shop.get("users/\(id)", error: AccountError.self).sender().value
        } catch .timedOut {
            continue
        } catch .refused(let status) {
            print(status)
        }
    }
    return nil
}

func ownEnumSwitchedOver() async {
    do {
        let user: User = try await shop.get("users/1", error: AccountError.self).sender().value
        show(user)
    } catch {
        switch error {
        case .timedOut: print("too slow")
        case .refused(let status): print(status)
        case .other(let text): print(text)
        }
    }
}

func libraryErrorAsTheModel() async throws -> User? {
    do {
        return try await shop.get("users/1", error: SluiceError.self).sender().value
    } catch {
        switch error.code {
        case .timedOut: return nil
        default: throw error
        }
    }
}

func typedErrorBody() async {
    struct Problem: Decodable, Sendable { let message: String }
    let request: APIRequest<User, TypedAPIError<Problem>> = shop.get("users/1")
    do {
        show(try await request.sender().value)
    } catch {
        print(error.errorBody?.message ?? "", error.code, error.status ?? 0, error.isCancellation, error.body.count)
    }
}

func genericErrorModel<Failure: ErrorSerializable>(_ request: APIRequest<User, Failure>) async throws(Failure) -> User {
    do {
        return try await request.sender().value
    } catch {
        print(error)
        throw error
    }
}

func typedDoInATask() {
    Task {
        do throws(ShopError) {
            let user: User = try await shop.get("users/1", error: ShopError.self).sender().value
            show(user)
        } catch {
            print(error.message)
        }
    }
}

func switchInATask() {
    Task {
        var attempts = 0
        do throws(APIError) {
            let user: User = try await shop.get("users/1").sender().value
            show(user)
        } catch {
            switch error.code {
            case .timedOut: attempts += 1
            default: print(error)
            }
        }
        print(attempts)
    }
}

func castInATask() {
    Task {
        do {
            let user: User = try await shop.get("users/1").sender().value
            try await Task.sleep(for: .seconds(1))
            show(user)
        } catch let error as APIError where error.code == .timedOut {
            print(error)
        } catch {
            print(error)
        }
    }
}

func valueOfATask() async {
    let task = Task { try await shop.get("users/1", as: User.self).sender().value }
    do {
        show(try await task.value)
    } catch let error as APIError {
        print(error.code)
    } catch {
        print(error)
    }
}

func resultOfATask() async {
    let task = Task { await shop.get("users/1", as: User.self, error: ShopError.self).sender().result }
    switch await task.value {
    case .success(let user): show(user)
    case .failure(let error): print(error.message)
    }
}

func resultsOfAGroup() async {
    await withTaskGroup { group in
        for id in 1...3 {
            group.addTask { await shop.get("users/\(id)", as: User.self).sender().result }
        }
        for await result in group {
            switch result {
            case .success(let user): show(user)
            case .failure(let error) where error.code == .timedOut: print("too slow")
            case .failure(let error): print(error)
            }
        }
    }
}

func resultsOfAsyncLet() async {
    async let first = shop.get("users/1", as: User.self).sender().result
    async let second = shop.get("users/2", as: User.self).sender().result
    for result in await [first, second] {
        if case .failure(let error) = result { print(error.code) }
    }
}

func resultInALoop() async throws -> User? {
    var attempts = 0
    while attempts < 3 {
        switch await shop.get("users/1", as: User.self).sender().result {
        case .success(let user): return user
        case .failure(let error) where error.code == .timedOut: attempts += 1
        case .failure(let error): throw error
        }
    }
    return nil
}

func severalRequestsWithOneError() async {
    do {
        let user: User = try await shop.get("users/1").sender().value
        let order: Order = try await shop.get("users/\(user.id)/order").sender().value
        show(order)
    } catch {
        print(error.code)
    }
}

func severalRequestsWithDifferentErrors() async {
    do {
        let user: User = try await shop.get("users/1").sender().value
        let order: Order = try await shop.get("users/\(user.id)/order", error: ShopError.self).sender().value
        show(order)
    } catch let error as APIError {
        print(error.code)
    } catch let error as ShopError {
        print(error.message)
    } catch {
        print(error)
    }
}

func failureOfAResponse() async {
    let response = await shop.get("users/1", as: User.self).sender().response
    switch response.failure?.code {
    case .timedOut: print("too slow")
    case nil: print("fine")
    default: print(response.failure?.description ?? "")
    }
}

func textsOfAnError() {
    let error = SluiceError(.timedOut, "Too slow.")
    print(error.errorDescription ?? "", error.localizedDescription, error.description)
}

func textsOfAnAPIError() async {
    do {
        let user: User = try await shop.get("users/1").sender().value
        show(user)
    } catch {
        print(error.errorDescription ?? "", error.localizedDescription, error.description)
    }
}

func textOfALocalizedError(_ error: OAuth2Error) -> String? {
    let localized: any LocalizedError = error
    return localized.errorDescription
}

func mirrorsOfValues() {
    let secret: any CustomReflectable = Secret("abc")
    print(secret.customMirror.children.count, shop.customMirror.children.count)
}
