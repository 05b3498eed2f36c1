import Measuring
import Sluice
import SluiceCurl

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

@main
struct SluiceBench: Competitor {
    private let authority: String
    private let client: APIClient
    private let transport = CurlTransport()

    init(_ arguments: Arguments) throws {
        let server = try arguments.server
        authority = String(server.dropFirst("http://".count))
        client = APIClient(baseURL: server)
    }

    static func main() async {
        await Measurement.main(SluiceBench.self)
    }

    func user() async throws -> User {
        let request: APIRequest<User, APIError> = client.codable.request("user.json")
        return try await request.sender().value
    }

    func download() async throws -> Int {
        let request = HTTPRequest(scheme: "http", authority: authority, path: "/file")
        let response = try await transport.send(request, context: TransferContext())
        try Unexpected.check(status: response.head.status.rawValue)
        var count = 0
        for try await chunk in response.body { count += chunk.count }
        return count
    }

    func upload(_ upload: Upload) async throws {
        let chunk = Data(repeating: 0x61, count: upload.chunkLength)
        let body = HTTPBody.stream(upload.chunks(of: chunk), length: Int64(upload.length))
        let request = HTTPRequest(method: .put, scheme: "http", authority: authority, path: upload.path, body: body)
        let response = try await transport.send(request, context: TransferContext())
        try Unexpected.check(status: response.head.status.rawValue)
        _ = try await response.body.collect()
    }
}
