import Measuring
import Sluice
import SluiceEngine

extension ConnectionOptions {
    /// Creates options that trust the certificate in `trust=` alone and, with `version=http1`, speak HTTP/1.1.
    init(_ arguments: Arguments) throws(UsageError) {
        self.init()
        if let file = arguments.optional("trust") { tls.trust = .only(.file(file)) }
        switch arguments.optional("version") {
        case nil: break
        case "http1": httpVersion = .http1
        case let other?: throw UsageError(description: "There is no version '\(other)', only 'http1'.")
        }
    }
}

extension APIClient {
    /// Creates a client that differs from the default one in how it connects.
    ///
    /// All hosts are at 127.0.0.1 where many are asked, and all requests are sent at once where connections are counted.
    init(connecting arguments: Arguments) throws(UsageError) {
        let mode = arguments.mode
        let options = try ConnectionOptions(arguments)
        let count: Int = try arguments.number("count", default: 10_000)
        self.init(baseURL: try arguments.server) {
            $0.connection = options
            if mode == .hosts || mode == .idle { $0.connection.hostAddresses["*"] = [IPAddress(127, 0, 0, 1)] }
            if mode == .idle {
                var configuration = SocketTransport.Configuration()
                configuration.maximumTransfersPerHost = count
                configuration.maximumTransfers = count
                $0.transport = SocketTransport(configuration: configuration)
                // So many handshakes at once take longer than one may.
                $0.timeouts = Timeouts(connect: .seconds(240), idle: .seconds(240))
            }
        }
    }
}

extension SluiceBench {
    func user(at url: String) async throws -> User? {
        let request: APIRequest<User, APIError> = client.codable.request(url)
        return try await request.sender().value
    }

    func connect(_ count: Int, path: String) async throws -> Int? {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<count { group.addTask { _ = try await client.data.request(path).sender().value } }
            try await group.waitForAll()
        }
        return await SocketTransport.statistics().connections
    }
}
