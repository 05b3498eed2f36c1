import AsyncHTTPClient
import Measuring
import NIOCore
import NIOFoundationEssentialsCompat
import NIOPosix
import NIOSSL

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

@main
struct AHC: Competitor {
    let server: String
    let client: HTTPClient
    private let decoder = JSONDecoder()

    init(_ arguments: Arguments) throws {
        server = try arguments.server
        // A connection for each request in flight is AsyncHTTPClient's fastest way here. Requests per second on two
        // cores with its default of 8 connections, and with one each: 9,600 and 12,200 with 16 in flight, 8,800 and
        // 12,000 with 64, 8,700 and 9,400 with 256.
        var configuration = HTTPClient.Configuration()
        configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit =
            try arguments.number("connections", default: max(8, arguments.inFlight))
        if arguments.mode == .hosts {
            for host in try arguments.hosts { configuration.dnsOverride[host] = "127.0.0.1" }
        }
        if let file = arguments.optional("trust") {
            var tls = TLSConfiguration.makeClientConfiguration()
            tls.trustRoots = .file(file)
            configuration.tlsConfiguration = tls
        }
        // By default the client neither requests nor removes a content coding.
        if arguments.optional("decompress") != nil { configuration.decompression = .enabled(limit: .none) }
        if arguments.optional("loops") != nil {
            let group = MultiThreadedEventLoopGroup(numberOfThreads: try arguments.number("loops", default: 1))
            client = HTTPClient(eventLoopGroupProvider: .shared(group), configuration: configuration)
        } else {
            client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
        }
    }

    static func main() async {
        await Measurement.main(AHC.self)
    }

    func user() async throws -> User {
        try await get(server + "/user.json")
    }

    func user(at url: String) async throws -> User? {
        try await get(url)
    }

    private func get(_ url: String) async throws -> User {
        let response = try await client.execute(HTTPClientRequest(url: url), timeout: .seconds(60))
        try Unexpected.check(status: Int(response.status.code))
        let body = try await response.body.collect(upTo: 1 << 20)
        return try decoder.decode(User.self, from: body)
    }

    func fetch(_ path: String) async throws -> Int {
        let response = try await client.execute(HTTPClientRequest(url: "\(server)/\(path)"), timeout: .seconds(60))
        try Unexpected.check(status: Int(response.status.code))
        return try await response.body.collect(upTo: 1 << 20).readableBytes
    }

    func download(_ path: String) async throws -> Int {
        let response = try await client.execute(HTTPClientRequest(url: server + path), timeout: .seconds(240))
        try Unexpected.check(status: Int(response.status.code))
        var count = 0
        for try await chunk in response.body { count += chunk.readableBytes }
        return count
    }

    func upload(_ upload: Upload) async throws {
        var request = HTTPClientRequest(url: server + upload.path)
        request.method = .PUT
        let chunk = ByteBuffer(repeating: 0x61, count: upload.chunkLength)
        request.body = .stream(upload.chunks(of: chunk), length: .known(Int64(upload.length)))
        let response = try await client.execute(request, timeout: .seconds(60))
        try Unexpected.check(status: Int(response.status.code))
    }

    func build(_ search: Search, _ user: User, _ encoder: JSONEncoder) throws -> Int {
        guard var components = URLComponents(string: server + "/search") else { return 0 }
        components.queryItems = [
            URLQueryItem(name: "q", value: search.words),
            URLQueryItem(name: "page", value: "\(search.page)"),
            URLQueryItem(name: "sort", value: search.sort),
        ]
        var request = HTTPClientRequest(url: components.string ?? "")
        request.method = .POST
        request.headers.add(name: "Content-Type", value: "application/json")
        let body = ByteBuffer(data: try encoder.encode(user))
        request.body = .bytes(body)
        return request.url.utf8.count + body.readableBytes
    }
}
