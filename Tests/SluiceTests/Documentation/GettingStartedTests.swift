import Foundation
import Sluice
import SluiceTesting
import Testing

// The files of the tutorial, in order.

/// A repository on GitHub.
public struct Repository: Decodable, Sendable {
    /// The name, without the owner.
    public let name: String
    /// The number of stars.
    public let stars: Int

    enum CodingKeys: String, CodingKey {
        case name
        case stars = "stargazers_count"
    }
}

/// The error of a failed request, with the message of GitHub if there is one.
public struct GitHubError: ErrorSerializable, CustomStringConvertible {
    /// One sentence.
    public let description: String
    /// The status of the response; nil without a response.
    public let status: HTTPStatus?

    /// Reads the body of the failed response.
    public init(_ failure: RequestFailure) {
        struct Body: Decodable { let message: String }
        description = (try? failure.decoded(as: Body.self))?.message ?? failure.error.description
        status = failure.response?.status
    }
}

/// The part of GitHub's API that the tool needs.
public struct GitHub: WebService {
    /// The client that sends the requests.
    public let client: APIClient

    /// Creates a service. Tests pass another URL.
    public init(baseURL: String = "https://api.github.com") {
        client = APIClient(baseURL: baseURL) {
            $0.headers["Accept"] = "application/vnd.github+json"
            $0.requestInterceptors = [UserAgent(product: "repos", version: "1.0")]
            $0.timeouts.total = .seconds(60)
            $0.retry = .standard
        }
    }

    /// The first hundred repositories of a user.
    public func repositories(of user: String) -> APIRequest<[Repository], GitHubError> {
        let path: URITemplate = "users/{user}/repos{?per_page}"
        return server.get(path.expanding(["user": user, "per_page": 100]))
    }
}

struct Repos {
    static func main() async {
        guard let user = CommandLine.arguments.dropFirst().first else {
            fail("usage: repos <user>", status: 64)
        }
        do {
            let repositories = try await GitHub().repositories(of: user).sender().value
            for repository in repositories.sorted(by: { $0.stars > $1.stars }) {
                print(repository.stars, repository.name)
            }
        } catch {
            fail("error: \(error)", status: 1)
        }
    }

    /// Writes a line to standard error and ends the program.
    private static func fail(_ line: String, status: Int32) -> Never {
        FileHandle.standardError.write(Data("\(line)\n".utf8))
        exit(status)
    }
}

/// Urgent, because the time-outs of the service also apply while many other tests run.
@Suite(.urgent) enum GettingStartedTests {
    @Suite struct GitHubTests {
        @Test func repositoriesAreDecoded() async throws {
            let server = try LoopbackServer()
            server.on(.get, "/users/ada/repos", .json(#"[{"name":"engine","stargazers_count":42}]"#))
            let repositories = try await GitHub(baseURL: server.url).repositories(of: "ada").sender().value
            #expect(repositories.map(\.name) == ["engine"])
            #expect(repositories.map(\.stars) == [42])
            #expect(server.requests.first?.query == "per_page=100")
            #expect(server.requests.first?.headers["User-Agent"]?.hasPrefix("repos/1.0") == true)
        }

        @Test func unknownUserFailsWithTheMessageOfGitHub() async throws {
            let server = try LoopbackServer()
            server.on("/users/nobody/repos", .json(#"{"message":"Not Found"}"#, status: .notFound))
            let error = try await #require(throws: GitHubError.self) {
                try await GitHub(baseURL: server.url).repositories(of: "nobody").sender().value
            }
            #expect(error.description == "Not Found")
            #expect(error.status == .notFound)
        }

        @Test func retriesAfterServerError() async throws {
            let server = try LoopbackServer()
            server.on("/users/ada/repos", .status(.serviceUnavailable), .json("[]"))
            let repositories = try await GitHub(baseURL: server.url).repositories(of: "ada").sender().value
            #expect(repositories.isEmpty)
            #expect(server.requests.count == 2)
        }
    }
}
