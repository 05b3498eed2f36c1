#if os(Linux)
import Foundation
import Sluice
import XCTest

/// The requests of a caching client, as nginx logs them.
final class NginxCacheTests: XCTestCase {
    func testValidatesStaleResponseWithServer() async throws {
        try XCTSkipUnless(Nginx.canRun, "nginx and openssl are needed.")
        let nginx = try Nginx()
        let file = nginx.directory.appending(path: "files/stale/page.txt")
        for (number, url) in [nginx.plainURL, nginx.tlsURL, nginx.http2URL].enumerated() {
            // Long enough for compression, which makes the ETag weak.
            let pages = ["one", "two"].map { String(repeating: "\($0) \(number)\n", count: 200) }
            try Data(pages[0].utf8).write(to: file)
            let client = APIClient(baseURL: url) {
                $0.cache = CacheStore(storage: nil)
                $0.connection.tls.trust = .only(.file(nginx.certificateFile))
            }
            let request = client.string.get("stale/page.txt")
            let first = await request.sender().response
            XCTAssertEqual(try first.result.get(), pages[0])
            let eTag = try XCTUnwrap(first.head?.headers["ETag"])
            let second = await request.sender().response
            XCTAssertEqual(try second.result.get(), pages[0])
            guard case .cache(let info) = second.source else {
                return XCTFail("The source is \(second.source) after \(try await log(of: nginx, count: 2)).")
            }
            XCTAssertTrue(info.isRevalidated)
            XCTAssertEqual(second.status, .ok)
            // A different length gives a different ETag, also within the same second.
            try Data((pages[1] + "!").utf8).write(to: file)
            let third = await request.sender().response
            XCTAssertEqual(try third.result.get(), pages[1] + "!")
            XCTAssertEqual(third.source, .server)
            let seen = try await log(of: nginx, count: 3 * (number + 1)).suffix(3)
            let version = number == 2 ? "HTTP/2.0" : "HTTP/1.1"
            XCTAssertEqual(
                Array(seen),
                ["\(version) 200 -", "\(version) 304 \(eTag.logged)", "\(version) 200 \(eTag.logged)"]
            )
        }
    }

    /// Waits for a number of log lines. nginx writes a line after it has sent the response.
    private func log(of nginx: Nginx, count: Int) async throws -> [String] {
        let file = nginx.directory.appending(path: "stale.log")
        while true {
            let lines = try String(contentsOf: file, encoding: .utf8).split(separator: "\n").map(String.init)
            if lines.count >= count { return lines }
            await Task.yield()
        }
    }
}

extension String {
    /// The text as nginx escapes it in a log.
    fileprivate var logged: String { replacingOccurrences(of: "\"", with: "\\x22") }
}
#endif
