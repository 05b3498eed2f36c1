import Measuring
import Sluice
import SluiceEngine

extension ConnectionOptions {
    /// Creates options that trust only the certificate in `trust=` and use HTTP/1.1 with `version=http1`.
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
    /// Creates a client with different connection settings.
    ///
    /// With many hosts, all resolve to 127.0.0.1. When connections are counted, all requests are sent at once.
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
                // Many concurrent handshakes take longer than the default timeout.
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
        return client.connections.open
    }
}
