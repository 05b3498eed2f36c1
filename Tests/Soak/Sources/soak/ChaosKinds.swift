import Foundation
import Sluice
import SluiceTesting

/// Requests to servers over TLS, to one that is killed and started again, to names that nobody resolves, and to a disk
/// that is full at times.
enum ChaosKinds {
    static func all(_ clients: Clients, _ options: Options, _ folder: URL, _ smallFolder: URL?) -> [Kind] {
        options.secure.flatMap { secure($0, options.certificate) } + mortal(options.mortal, folder)
            + (options.hasSilentNames ? silentNames() : [])
            + (smallFolder.map { fullDisk(clients, $0) } ?? [])
    }

    private static func secure(_ url: String, _ certificate: String) -> [Kind] {
        let trusting = APIClient(baseURL: url) { $0.connection.tls.trust = .only(.file(certificate)) }
        let distrusting = APIClient(baseURL: url)
        return [
            Kind("page over TLS") {
                let length = try await trusting.data.get("page.txt").sender().value.count
                try expect(length == 100_000, "\(length) bytes")
            },
            Kind("distrusted", .failure([.tlsFailed])) {
                _ = try await distrusting.data.get("page.txt").sender().value
            },
        ]
    }

    private static let away: Set<SluiceError.Code> = [
        .cannotConnect, .connectionLost, .truncatedBody, .proxyFailed, .invalidResponse,
    ]

    private static func mortal(_ url: String, _ folder: URL) -> [Kind] {
        let client = APIClient(baseURL: url)
        let proxied = APIClient(baseURL: "http://shop.example") {
            $0.connection.proxy = .http(String(url.dropFirst("http://".count)))
        }
        let patient = APIClient(baseURL: url) {
            $0.retry = RetryPolicy(
                maximumAttempts: 200,
                maximumElapsedTime: .seconds(80),
                backoff: .constant(.milliseconds(200))
            )
        }
        return [
            Kind("page of a mortal server", .either(away)) {
                let length = try await client.data.get("page.txt").sender().value.count
                try expect(length == 100_000, "\(length) bytes")
            },
            Kind("page through a mortal proxy", .either(away)) {
                let length = try await proxied.data.get("page.txt").sender().value.count
                try expect(length == 100_000, "\(length) bytes")
            },
            Kind("page of a mortal server, in the end") {
                let length = try await patient.data.get("page.txt").sender().value.count
                try expect(length == 100_000, "\(length) bytes")
            },
            Kind("download from a mortal server", .either(away)) {
                let target = folder.appending(path: UUID().uuidString)
                defer { try? FileManager.default.removeItem(at: target) }
                _ = try await patient.download("big.bin", to: .file(target)).sender().value
                let data = try Data(contentsOf: target)
                try expect(data.count == 3_000_000 && data.last == 0x7A, "\(data.count) bytes")
            },
        ]
    }

    private static func silentNames() -> [Kind] {
        let number = Counter()
        return [
            // The look-up, which several requests share, may fail just before the time is up.
            Kind("silent name server", .failure([.timedOut, .cannotResolveHost])) {
                let next = number.next()
                try await promptly {
                    let client = APIClient { $0.timeouts.total = .milliseconds(300) }
                    _ = try await client.data.get("http://shop-\(next % 50).example/").sender().value
                }
            }
        ]
    }

    private static func fullDisk(_ clients: Clients, _ folder: URL) -> [Kind] {
        let cached = APIClient(baseURL: clients.url) {
            $0.cache = CacheStore(directory: folder.appending(path: "cache")) { $0.memory.count = 1 }
        }
        return [
            Kind("cache on a full disk") {
                let length = try await cached.data.get("page").sender().value.count
                try expect(length == FaultyServer.page.count, "\(length) bytes")
            },
            Kind("download to a full disk", .either([.cannotWriteFile, .insufficientSpace])) {
                let target = folder.appending(path: UUID().uuidString)
                defer { try? FileManager.default.removeItem(at: target) }
                _ = try await clients.plain.download("page", to: .file(target)).sender().value
                let data = try Data(contentsOf: target)
                try expect(data == FaultyServer.page, "\(data.count) bytes")
            },
        ]
    }
}
