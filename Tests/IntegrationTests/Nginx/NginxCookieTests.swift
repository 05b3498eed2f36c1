#if os(Linux)
import Foundation
import Sluice
import Testing

/// A cookie file shared by this client, curl and Python, with cookies of nginx.
@Suite(
    .enabled(if: Nginx.canRun, "nginx or openssl is not installed (Debian: nginx-light, openssl)"),
    .serialized
)
struct NginxCookieTests {
    let nginx: Nginx

    init() throws {
        nginx = try Nginx()
    }

    private var file: String { nginx.directory.appending(path: "cookies.txt").path }

    private func client(_ jar: CookieJar) -> APIClient {
        APIClient(baseURL: nginx.plainURL) { $0.cookies = jar }
    }

    private func cookies(_ text: String) -> Set<String> {
        Set(text.components(separatedBy: "; ").map { $0.trimmingCharacters(in: .whitespacesAndNewlines) })
    }

    @Test func cookiesPersistInFile() async throws {
        let jar = CookieJar(file: file)
        _ = try await client(jar).string.get("cookies/set").sender().value
        try await jar.save()
        let again = CookieJar(file: file)
        let sent = try await client(again).string.get("cookies/show").sender().value
        #expect(cookies(sent) == ["lasting=l1", "session=s1"])
        #expect(await again.cookies.map(\.name) == ["lasting", "session", "elsewhere", "hidden"])
        _ = try await client(again).string.get("cookies/end").sender().value
        let rest = try await client(again).string.get("cookies/show").sender().value
        #expect(cookies(rest) == ["session=s1"])
    }

    @Test(.enabled(if: RealServer.canRun("curl"), "curl is not installed"))
    func exchangesCookieFilesWithCurl() async throws {
        let jar = CookieJar(file: file)
        _ = try await client(jar).string.get("cookies/set").sender().value
        try await jar.save()
        let sent = try RealServer.run("curl", "-s", "-b", file, "\(nginx.plainURL)/cookies/show")
        #expect(cookies(sent) == ["lasting=l1", "session=s1"])
        let other = nginx.directory.appending(path: "curl.txt").path
        try RealServer.run("curl", "-s", "-c", other, "\(nginx.plainURL)/cookies/set")
        let own = try await client(CookieJar(file: other)).string.get("cookies/show").sender().value
        #expect(cookies(own) == ["lasting=l1", "session=s1"])
    }

    @Test(.enabled(if: RealServer.canRun("python3"), "Python is not installed"))
    func exchangesCookieFilesWithPython() async throws {
        let jar = CookieJar(file: file)
        _ = try await client(jar).string.get("cookies/set").sender().value
        try await jar.save()
        let read = """
            import http.cookiejar, sys
            jar = http.cookiejar.MozillaCookieJar()
            jar.load(sys.argv[1], ignore_discard=True, ignore_expires=True)
            print("; ".join(f"{c.name}={c.value}" for c in jar if c.path == "/"))
            jar.save(sys.argv[2], ignore_discard=True, ignore_expires=True)
            """
        let other = nginx.directory.appending(path: "python.txt").path
        let seen = try RealServer.run("python3", "-c", read, file, other)
        #expect(cookies(seen).isSuperset(of: ["lasting=l1", "session=s1"]))
        let names = await CookieJar(file: other).cookies.map(\.name)
        #expect(names.contains("lasting"))
        #expect(names.contains("session"))
    }
}
#endif
