import Sluice
import SluiceTesting
import XCTest

extension User {
    fileprivate static let guest = User(id: 0, name: "Guest")
}

/// The article on validation and errors.
final class FailuresGuideTests: XCTestCase {
    struct Incomplete: Error {}

    struct Problem: Decodable, Sendable {
        let message: String
    }

    struct Profile: Target {
        let id: Int

        var baseURL: String { "https://shop.example" }
        var path: String { "users/\(id)" }
        var validation: Validation { Validation(statuses: 200..<300, 404..<405, contentTypes: ["application/json"]) }
    }

    struct ShopFailure: ErrorSerializable {
        let message: String
        let isTemporary: Bool

        init(_ failure: RequestFailure) {
            message = (try? failure.decoded(as: Problem.self))?.message ?? failure.error.description
            isTemporary = failure.error.code == .timedOut || failure.response?.status == .serviceUnavailable
        }
    }

    struct NoSuchUser: ErrorSerializable {
        let reason: String
        var id: Int?

        init(_ failure: RequestFailure) { reason = failure.error.description }
        init(_ failure: RequestFailure, id: Int) {
            self.init(failure)
            self.id = id
        }
    }

    private func shopServer() throws -> LoopbackServer {
        let server = try LoopbackServer()
        server.on("/users/1", .json(#"{"id":1,"name":"Ada"}"#))
        server.on("/users/9", .json(#"{"message":"There is no user 9."}"#, status: .notFound))
        server.on("/page", .data(Data("<html>".utf8), contentType: "application/xml"))
        server.on("/busy", .json(#"{"message":"Come back later."}"#, status: .serviceUnavailable))
        server.on("/slow", .hang)
        return server
    }

    func testSuccesses() async throws {
        let server = try shopServer()
        let shop = APIClient(baseURL: server.url) {
            $0.validation = Validation(contentTypes: ["application/json", "text/*"])
        }
        let lenient = shop.data.get("users/9").validate(statuses: 200, 404)
        let strict = shop.data.get("users/1").validate(contentTypes: "application/json")
        let whole = shop.data.get("users/1").validate { head, body in
            if head.headers.contains("X-Partial") || body.isEmpty { throw Incomplete() }
        }
        let anything = shop.data.get("users/9").validate(.none)
        for request in [lenient, strict, whole, anything] { _ = try await request.sender().value }
        let code = await shop.data.get("page").sender().response.failure?.code
        XCTAssertEqual(code, .unacceptableContentType)
    }

    func testRulesOfATarget() async throws {
        let stubs: [(Stub, SluiceError.Code?)] = [
            (.json("{}"), nil), (.json("{}", status: .notFound), nil), (.text("x"), .unacceptableContentType),
            (.json("{}", status: .forbidden), .unacceptableStatus),
        ]
        for (stub, code) in stubs {
            let failure = await APIClient().data.request(Profile(id: 9)).stub(stub).sender().response.failure
            XCTAssertEqual(failure?.code, code)
        }
    }

    func testErrorModels() async throws {
        let server = try shopServer()
        let shop = APIClient(baseURL: server.url)
        do {
            let user: User = try await shop.codable.get("users/9").sender().value
            print(user.name)
        } catch {
            // No cast: this is an APIError.
            print(error.status ?? 0, error.body.count, error)
        }
        let typed: APIRequest<User, TypedAPIError<Problem>> = shop.codable.get("users/9")
        do {
            _ = try await typed.sender().value
        } catch {
            print(error.errorBody?.message ?? "no message", error.status ?? 0)
        }
        do {
            _ = try await shop.get("users/9", as: User.self).sender().value
        } catch {
            if let problem = try? error.decoded(as: Problem.self) { print(problem.message) }
        }
        let busy: APIRequest<User, ShopFailure> = shop.codable.get("busy")
        guard case .failure(let failure) = await busy.sender().result else { return XCTFail("The request succeeded.") }
        XCTAssertEqual(failure.message, "Come back later.")
        XCTAssertTrue(failure.isTemporary)
        let request = shop.get("users/9", as: User.self).serializingErrors { failure in
            failure.response?.status == .notFound ? NoSuchUser(failure, id: 9) : NoSuchUser(failure)
        }
        guard case .failure(let missing) = await request.sender().result else { return XCTFail("It succeeded.") }
        XCTAssertEqual(missing.id, 9)
    }

    func testCatching() async throws {
        let server = try shopServer()
        let shop = APIClient(baseURL: server.url) { $0.timeouts.total = .seconds(60) }
        var user: User
        do {
            user = try await shop.codable.get("users/1", as: User.self).sender().value
        } catch {
            switch error.code {
            case .timedOut, .connectTimedOut, .idleTimedOut: user = .guest
            default: throw error
            }
        }
        XCTAssertEqual(user.name, "Ada")
        let task = Task {
            do throws(ShopFailure) {
                let user = try await shop.codable.get("users/1", as: User.self, error: ShopFailure.self).sender().value
                print(user.name)
            } catch {
                print(error.message)
            }
        }
        await task.value
        await withTaskGroup { group in
            for id in 1...3 {
                group.addTask { await shop.codable.get("users/\(id)", as: User.self).sender().result }
            }
            for await result in group {
                switch result {
                case .success(let user): print(user.name)
                case .failure(let error) where error.code == .unacceptableStatus: print(error.status ?? 0)
                case .failure(let error): print(error)
                }
            }
        }
        XCTAssertGreaterThan(server.requestCount, 2)
    }

    func testCauses() async throws {
        let server = try shopServer()
        let shop = APIClient(baseURL: server.url)
        let response = await shop.data.get("slow").timeout(total: .milliseconds(50)).sender().response
        switch response.failure?.code {
        case .timedOut, .connectTimedOut, .idleTimedOut: print("too slow")
        case .cannotResolveHost, .cannotConnect: print("unreachable")
        case .unacceptableStatus: print(response.status ?? 0)
        case .decodingFailed: print(response.failure?.underlyingError ?? "")
        case .cancelled, nil: break
        default: print(response.failure?.step ?? .transport)
        }
        XCTAssertEqual(response.failure?.code, .timedOut)
        let sender = shop.data.get("slow").sender()
        sender.cancel()
        if case .failure(let error) = await sender.result, error.isCancellation { print("The request was cancelled.") }
        let isCancellation = await sender.response.failure?.isCancellation
        XCTAssertEqual(isCancellation, true)
    }
}
