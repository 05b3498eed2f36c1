import Foundation
import Sluice
import SluiceTesting

/// Requests and responses with large bodies, and files.
enum BodyKinds {
    static func all(_ clients: Clients, _ folder: URL) -> [Kind] {
        let plain = clients.plain
        let bytes = Data(repeating: 0x62, count: 200_000)
        return [
            Kind("upload") {
                let text = try await plain.string.post("upload").data(bytes).sender().value
                try expect(text == "200000", text)
            },
            Kind("streamed upload") {
                let chunks = AsyncStream<Data> { continuation in
                    for _ in 0..<20 { continuation.yield(Data(repeating: 0x63, count: 5000)) }
                    continuation.finish()
                }
                let text = try await plain.string.post("upload").body(.stream(chunks)).sender().value
                try expect(text == "100000", text)
            },
            Kind("form") {
                let form: MultipartForm = [.text("Ada", name: "name"), .data(bytes, name: "file", fileName: "b.bin")]
                let text = try await plain.string.post("upload").multipart(form).sender().value
                try expect((Int(text) ?? 0) > bytes.count, text)
            },
            Kind("download") {
                let target = folder.appending(path: UUID().uuidString)
                defer { try? FileManager.default.removeItem(at: target) }
                _ = try await plain.download("resource", to: .file(target)).sender().value
                let data = try Data(contentsOf: target)
                try expect(data == FaultyServer.resource, "\(data.count) bytes")
            },
            Kind("cassette") {
                let file = folder.appending(path: "\(UUID().uuidString).json")
                defer { try? FileManager.default.removeItem(at: file) }
                let transport = plain.configuration.transport
                for cassette in [
                    CassetteTransport(recording: transport, to: file), CassetteTransport(replaying: file),
                ] {
                    let client = APIClient(baseURL: clients.url) { $0.transport = cassette }
                    let text = try await client.string.get("chunked").sender().value
                    try expect(text == "one two three", text)
                }
            },
        ]
    }
}
