import Foundation
import Measuring

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@main
struct SystemURLSession: Competitor {
    private let server: URL
    private let configuration: URLSessionConfiguration
    private let session: URLSession
    private let decoder = JSONDecoder()

    init(_ arguments: Arguments) throws {
        guard let server = URL(string: try arguments.server) else {
            throw UsageError(description: "server= is not a URL.")
        }
        self.server = server
        configuration = .ephemeral
        configuration.httpMaximumConnectionsPerHost = try arguments.inFlight
        session = URLSession(configuration: configuration)
    }

    static func main() async {
        await Measurement.main(SystemURLSession.self)
    }

    func user() async throws -> User {
        let (data, response) = try await session.data(for: URLRequest(url: server.appendingPathComponent("user.json")))
        try check(response)
        return try decoder.decode(User.self, from: data)
    }

    func build(_ search: Search, _ user: User, _ encoder: JSONEncoder) throws -> Int {
        guard
            var components = URLComponents(
                url: server.appendingPathComponent("search"),
                resolvingAgainstBaseURL: false
            )
        else { return 0 }
        components.queryItems = [
            URLQueryItem(name: "q", value: search.words),
            URLQueryItem(name: "page", value: "\(search.page)"),
            URLQueryItem(name: "sort", value: search.sort),
        ]
        guard let url = components.url else { return 0 }
        var request = URLRequest(url: url)
        request.httpMethod = "POST"
        request.setValue("application/json", forHTTPHeaderField: "Content-Type")
        let body = try encoder.encode(user)
        request.httpBody = body
        return url.absoluteString.utf8.count + body.count
    }

    func fetch(_ path: String) async throws -> Int {
        let (data, response) = try await session.data(for: URLRequest(url: server.appendingPathComponent(path)))
        try check(response)
        return data.count
    }

    func download(_ path: String) async throws -> Int {
        let counter = DownloadCounter()
        let session = URLSession(configuration: configuration, delegate: counter, delegateQueue: nil)
        let request = URLRequest(url: server.appendingPathComponent(path))
        return try await withCheckedThrowingContinuation { continuation in
            counter.continuation = continuation
            session.dataTask(with: request).resume()
        }
    }

    func upload(_ upload: Upload) async throws {
        var request = URLRequest(url: server.appendingPathComponent(upload.path))
        request.httpMethod = "PUT"
        let (_, response) = try await session.upload(for: request, fromFile: URL(fileURLWithPath: upload.file))
        try check(response)
    }

    private func check(_ response: URLResponse) throws {
        try Unexpected.check(status: (response as? HTTPURLResponse)?.statusCode ?? 0)
    }
}

/// Counts bytes as they arrive. `bytes(for:)` does not exist on Linux.
///
/// Unchecked: all state is written before the task starts or on the session's serial delegate queue.
private final class DownloadCounter: NSObject, URLSessionDataDelegate, @unchecked Sendable {
    var continuation: CheckedContinuation<Int, any Error>?
    private var count = 0

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        count += data.count
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        continuation?.resume(with: error.map(Result.failure) ?? .success(count))
        continuation = nil
    }
}
