#if os(Linux)
import Foundation
import Sluice
import XCTest

/// Clients that may connect to public addresses only, next to clients that may connect to this computer.
final class GuardedConnectionTests: XCTestCase {
    private var nginx: Nginx!

    override func setUpWithError() throws {
        try XCTSkipUnless(Nginx.canRun, "nginx or openssl is not installed")
        nginx = try Nginx()
    }

    override func tearDown() {
        nginx = nil
    }

    private func client(_ url: String, _ addresses: AddressPolicy = .any) -> APIClient {
        APIClient(baseURL: url) {
            $0.connection.tls.trust = .only(.file(nginx.certificateFile))
            $0.connection.addresses = addresses
        }
    }

    func testGuardedClientUsesNoConnectionOfOtherClients() async throws {
        for url in [nginx.http2URL, nginx.tlsURL, nginx.plainURL] {
            let unrestricted = client(url)
            let guarded = client(url, .publicOnly)
            for _ in 0..<3 {
                let outcomes = await withTaskGroup(of: (isGuarded: Bool, response: APIResponse<Data, APIError>).self) {
                    group in
                    for index in 0..<300 {
                        let isGuarded = index % 3 == 0
                        let request = (isGuarded ? guarded : unrestricted).data.get("user.json")
                        group.addTask { (isGuarded, await request.sender().response) }
                    }
                    return await group.reduce(into: []) { $0.append($1) }
                }
                for (isGuarded, response) in outcomes {
                    if isGuarded {
                        XCTAssertEqual(response.failure?.code, .addressRefused, url)
                        XCTAssertNil(response.head)
                    } else {
                        XCTAssertEqual(response.status, .ok, "\(url) \(response.result)")
                    }
                }
            }
        }
    }
}
#endif
