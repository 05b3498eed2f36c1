import Measuring
import Sluice
import SluiceEngine

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

@main
struct SluiceBench: Competitor {
    private let origin: HTTPOrigin
    private let connection: ConnectionOptions
    let client: APIClient
    private let transport: SocketTransport

    init(_ arguments: Arguments) async throws {
        // The engine starts with the first request, so the loop count must be set before.
        if arguments.optional("loops") != nil {
            SocketTransport.setLoopCount(try arguments.number("loops", default: 1))
        }
        let server = try arguments.server
        let isSecure = server.hasPrefix("https://")
        origin = HTTPOrigin(
            scheme: isSecure ? "https" : "http",
            authority: String(server.dropFirst((isSecure ? "https://" : "http://").count))
        )
        connection = try ConnectionOptions(arguments)
        transport = SocketTransport()
        if arguments.optional("trust") != nil || arguments.mode == .hosts || arguments.mode == .idle {
            client = try APIClient(connecting: arguments)
        } else {
            let pipeline = arguments.optional("pipeline")
            let cookies = pipeline == "cookies" ? try await CookieJar(cookiesOf: "127.0.0.1") : nil
            client = try APIClient(baseURL: server, pipeline: pipeline, cookies: cookies)
        }
    }

    static func main() async {
        await Measurement.main(SluiceBench.self)
    }

    func user() async throws -> User {
        let request: APIRequest<User, APIError> = client.codable.request("user.json")
        return try await request.sender().value
    }

    func fetch(_ path: String) async throws -> Int {
        try await client.data.request(path).sender().value.count
    }

    func download(_ path: String) async throws -> Int {
        let request = HTTPRequest(scheme: origin.scheme, authority: origin.authority, path: path)
        let response = try await transport.send(request, context: TransferContext(connection: connection))
        try Unexpected.check(status: response.head.status.rawValue)
        var count = 0
        for try await chunk in response.body { count += chunk.count }
        return count
    }

    func upload(_ upload: Upload) async throws {
        let chunk = Data(repeating: 0x61, count: upload.chunkLength)
        let body = RequestBody.stream(upload.chunks(of: chunk), length: Int64(upload.length))
        let request = HTTPRequest(
            method: .put,
            scheme: origin.scheme,
            authority: origin.authority,
            path: upload.path,
            body: body
        )
        let response = try await transport.send(request, context: TransferContext())
        try Unexpected.check(status: response.head.status.rawValue)
        _ = try await response.body.collect()
    }

    func build(_ search: Search, _ user: User, _ encoder: JSONEncoder) throws -> Int {
        let request: APIRequest<User, APIError> = client.post("search")
            .query("q", search.words)
            .query("page", search.page)
            .query("sort", search.sort)
            .json(user, encoder: encoder)
        let built = try request.httpRequest()
        return built.url.utf8.count + Int(built.body.length ?? 0)
    }

    func multipart(_ files: [String], path: String) async throws -> Bool? {
        var form = MultipartForm()
        form.append(.text("All of them", name: "title"))
        for file in files { form.append(.file(URL(filePath: file), name: "files")) }
        _ = try await client.data.put(path).multipart(form).timeouts(Timeouts(total: .seconds(300))).sender().value
        return true
    }

    func lenient(_ json: Data) throws -> [Reading]? {
        try LenientJSONDecoder().decode([Reading].self, from: json)
    }
}
