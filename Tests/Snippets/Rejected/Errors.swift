import Sluice

// error: catch { switch error.code { case .timedOut:
func codeAsAPattern() async throws {
    do {
        let user: User = try await shop.get("users/1").sender().value
        show(user)
    } catch .timedOut {
        print("too slow")
    }
}

// error: catch { switch error.code { case .timedOut:
func codeAsAPatternBeforeAFinalClause() async {
    do {
        let user: User = try await shop.get("users/1").sender().value
        show(user)
    } catch .timedOut {
        print("too slow")
    } catch {
        print(error)
    }
}

// error: catch { switch error.code { case .timedOut:
func qualifiedCodeAsAPattern() async throws {
    do {
        let user: User = try await shop.get("users/1").sender().value
        show(user)
    } catch SluiceError.Code.timedOut {
        print("too slow")
    }
}

// error: catch { switch error.code { case .timedOut:
func codeAsAPatternInATask() {
    Task {
        do {
            let user: User = try await shop.get("users/1").sender().value
            show(user)
        } catch .timedOut {
            print("too slow")
        }
    }
}

// error: catch { switch error.code { case .timedOut:
func codesAsPatternsInOneClause() async {
    do {
        let user: User = try await shop.get("users/1").sender().value
        show(user)
    } catch .timedOut, .cancelled {
        print("no answer")
    } catch {
        print(error)
    }
}

// error: catch { switch error.code { case .timedOut:
func codeAsAPatternOfAnOwnError() async {
    do {
        let user: User = try await shop.get("users/1", error: ShopError.self).sender().value
        show(user)
    } catch .timedOut {
        print("too slow")
    } catch {
        print(error)
    }
}

// error: catch { switch error.code { case .timedOut:
func switchOverTheError() async {
    do {
        let user: User = try await shop.get("users/1").sender().value
        show(user)
    } catch {
        switch error {
        case .timedOut: print("too slow")
        default: print(error)
        }
    }
}

// error: catch { switch error.code { case .timedOut:
func codeInAResult() async {
    switch await shop.get("users/1", as: User.self).sender().result {
    case .success(let user): show(user)
    case .failure(.timedOut): print("too slow")
    case .failure(let error): print(error)
    }
}

// error: In a closure an error is any Error: write "do throws(APIError) {" or "catch let error as APIError"
func codeInATask() {
    Task {
        do {
            let user: User = try await shop.get("users/1").sender().value
            show(user)
        } catch {
            print(error.code)
        }
    }
}

// error: In a closure an error is any Error: write "do throws(APIError) {" or "catch let error as APIError"
func conditionInATask() {
    Task {
        do {
            let user: User = try await shop.get("users/1").sender().value
            show(user)
        } catch  where error.code == .timedOut {
            print("too slow")
        } catch {
            print(error)
        }
    }
}

// error: In a closure an error is any Error: write "do throws(APIError) {" or "catch let error as APIError"
func statusInATask() {
    Task {
        do {
            let user: User = try await shop.get("users/1").sender().value
            show(user)
        } catch {
            if error.status == .notFound { print("none") }
        }
    }
}

// error: In a closure an error is any Error: write "do throws(APIError) {" or "catch let error as APIError"
func cancellationInATask() {
    Task {
        do {
            let user: User = try await shop.get("users/1").sender().value
            show(user)
        } catch {
            if !error.isCancellation { print(error) }
        }
    }
}

// error: In a closure an error is any Error: write "do throws(APIError) {" or "catch let error as APIError"
func codeOfAValueOfATask() async {
    let task = Task { try await shop.get("users/1", as: User.self).sender().value }
    do {
        show(try await task.value)
    } catch {
        print(error.code)
    }
}

// error: In a closure an error is any Error: write "do throws(APIError) {" or "catch let error as APIError"
func codeOfAnAsyncLet() async {
    async let user: User = shop.get("users/1").sender().value
    do {
        show(try await user)
    } catch {
        print(error.code)
    }
}

// error: In a closure an error is any Error: write "do throws(APIError) {" or "catch let error as APIError"
func codeOfAGroup() async {
    do {
        try await withThrowingTaskGroup(of: User.self) { group in
            group.addTask { try await shop.get("users/1").sender().value }
            for try await user in group { show(user) }
        }
    } catch {
        print(error.code)
    }
}

// error: In a closure an error is any Error: write "do throws(APIError) {" or "catch let error as APIError"
func codeOfDifferentErrors() async {
    do {
        let user: User = try await shop.get("users/1").sender().value
        let order: Order = try await shop.get("users/\(user.id)/order", error: ShopError.self).sender().value
        show(order)
    } catch {
        print(error.code)
    }
}

// error: The type of this error has no code.
func codeOfAnOwnErrorWithoutOne() async {
    do {
        let user: User = try await shop.get("users/1", error: ShopError.self).sender().value
        show(user)
    } catch {
        print(error.code)
    }
}
