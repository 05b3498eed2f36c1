import Foundation
import SluiceHTTP
import SluiceTesting
import Testing

/// A folder for one test, with the path of a cookie file in it.
private final class Folder: Sendable {
    let url: URL

    init() throws {
        url = FileManager.default.temporaryDirectory.appending(path: "sluice-cookies-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    deinit {
        try? FileManager.default.removeItem(at: url)
    }

    var path: String { url.appending(path: "cookies.txt").path }
    var names: [String] { (try? FileManager.default.contentsOfDirectory(atPath: url.path).sorted()) ?? [] }
    var mode: Int? { try? FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int }
    var text: String { (try? String(contentsOf: URL(filePath: path), encoding: .utf8)) ?? "" }

    func write(_ text: String) throws {
        try Data(text.utf8).write(to: URL(filePath: path))
    }
}

/// Cookie jars with and without a file, used without a transport.
@Suite struct CookieFileTests {
    private static let cookie = Cookie(name: "id", value: "17", domain: "a.example")

    private static func line(_ name: String, _ value: String) -> String {
        "a.example\tFALSE\t/\tFALSE\t0\t\(name)\t\(value)\n"
    }

    @Test func filesWithoutEndAreReadInParts() async throws {
        let folder = try Folder()
        let long = Self.line("long", String(repeating: "v", count: 20_000))
        let tabs = String(repeating: "\t", count: 10_000) + "\n"
        let many = (0..<12_000).map { Self.line("n\($0)", "v") }.joined()
        try folder.write(long + tabs + many)
        let jar = CookieJar(file: folder.path)
        let names = await jar.cookies.map(\.name)
        #expect(names.contains("n0"))
        #expect(!names.contains("long"))
        #expect(!names.contains("n10000"))
    }

    @Test func cookiesThatWouldNotBeReadAreNotWritten() async throws {
        let folder = try Folder()
        let jar = CookieJar(file: folder.path)
        try await jar.set(Self.cookie)
        try await jar.set(Cookie(name: "long", value: String(repeating: "v", count: 20_000), domain: "a.example"))
        try await jar.save()
        #expect(folder.text.utf8.count < 1000)
        #expect(await CookieJar(file: folder.path).cookies.map(\.name) == ["id"])
    }

    @Test func jarWithoutAFileHoldsCookiesInMemory() async throws {
        let jar = CookieJar()
        #expect(await jar.cookies.isEmpty)
        try await jar.set(Self.cookie)
        try await jar.set(Cookie(name: "id", value: "18", domain: "A.example"))
        try await jar.set(Cookie(name: "id", value: "1", domain: "b.example"))
        #expect(await jar.cookies.map(\.value) == ["18", "1"])
        await jar.removeAll { $0.domain == "b.example" }
        #expect(await jar.cookies.map(\.value) == ["18"])
        try await jar.set(Cookie(name: "id", value: "", domain: "a.example", expires: .distantPast))
        #expect(await jar.cookies.isEmpty)
        try await jar.set(Self.cookie)
        await jar.removeAll()
        #expect(await jar.cookies.isEmpty)
        // Nothing to load or save.
        try await jar.load()
        try await jar.save()
    }

    @Test func rejectsInvalidCookies() async throws {
        let jar = CookieJar()
        let error = await #expect(throws: SluiceError.self) {
            try await jar.set(Cookie(name: "a", value: "s3cret\r\nB: 2", domain: "a.example"))
        }
        #expect(error?.code == .invalidHeader)
        #expect(error?.description.contains("s3cret") == false)
        #expect(await jar.cookies.isEmpty)
    }

    @Test func savedCookiesAreLoadedByAnotherJar() async throws {
        let folder = try Folder()
        let first = CookieJar(file: folder.path)
        #expect(await first.cookies.isEmpty)
        let lasting = Cookie(
            name: "b",
            value: "x y",
            domain: "b.example",
            path: "/p",
            includesSubdomains: true,
            expires: Date(timeIntervalSince1970: 4_000_000_000),
            isSecure: true,
            isHTTPOnly: true
        )
        try await first.set(Self.cookie)
        try await first.set(lasting)
        try await first.save()
        #expect(folder.mode == 0o600)
        #expect(folder.names == ["cookies.txt"])
        #expect(folder.text.hasPrefix("# Netscape HTTP Cookie File\n"))
        #expect(await CookieJar(file: folder.path).cookies == [Self.cookie, lasting])
    }

    @Test func changesAreSavedAutomatically() async throws {
        let folder = try Folder()
        do {
            let jar = CookieJar(file: folder.path)
            try await jar.set(Self.cookie)
        }
        // The cookie is saved although the jar has been deallocated.
        try await waitUntil(within: .seconds(600)) { folder.text.contains(Self.line("id", "17")) }
        let jar = CookieJar(file: folder.path)
        await jar.removeAll()
        try await waitUntil(within: .seconds(600)) { !folder.text.contains("17") }
        #expect(folder.mode == 0o600)
    }

    @Test func loadingKeepsCookiesThatWereSetBefore() async throws {
        let folder = try Folder()
        try folder.write(Self.line("id", "1") + Self.line("b", "2"))
        let jar = CookieJar(file: folder.path)
        try await jar.set(Self.cookie)
        #expect(await jar.cookies.map(\.value) == ["2", "17"])
        try await jar.load()
        #expect(await jar.cookies.map(\.value) == ["2", "17"])
    }

    @Test func damagedLinesAreSkipped() async throws {
        let folder = try Folder()
        try folder.write(
            "# comment\n\nALL\n\u{0}\u{1}\nSet-Cookie: x=1\n" + Self.line("a", "1") + "SESS\n"
                + Self.line("b", "2").dropLast(5)
        )
        let jar = CookieJar(file: folder.path)
        try await jar.load()
        #expect(await jar.cookies.map(\.name) == ["a"])
    }

    @Test func savingMakesTheFilePrivate() async throws {
        let folder = try Folder()
        try folder.write(Self.line("a", "1"))
        #expect(chmod(folder.path, 0o644) == 0)
        let jar = CookieJar(file: folder.path)
        #expect(await jar.cookies.map(\.name) == ["a"])
        try await jar.save()
        #expect(folder.mode == 0o600)
    }

    @Test func unreadableFileIsNeverOverwritten() async throws {
        let folder = try Folder()
        let large = String(repeating: "#", count: 33 << 20)
        try folder.write(large)
        let failures = Locked<[SluiceError]>([])
        let jar = CookieJar(file: folder.path) { error in failures.withLock { $0.append(error) } }
        try await jar.set(Self.cookie)
        #expect(await jar.cookies == [Self.cookie])
        #expect(failures.withLock { $0.map(\.code) } == [.cookieFileFailed])
        let loading = await #expect(throws: SluiceError.self) { try await jar.load() }
        let saving = await #expect(throws: SluiceError.self) { try await jar.save() }
        #expect([loading?.code, saving?.code] == [.cookieFileFailed, .cookieFileFailed])
        #expect(loading?.step == .file)
        #expect(loading?.description.contains(folder.path) == true)
        #expect(folder.text == large)
        // After the repair, the file has its cookies and those that were set meanwhile.
        try folder.write(Self.line("a", "1"))
        try await jar.save()
        #expect(await CookieJar(file: folder.path).cookies.map(\.name) == ["a", "id"])
    }

    @Test func cookiesOfAnUnreadFileDoNotReturnAfterAllWereRemoved() async throws {
        let folder = try Folder()
        try folder.write(String(repeating: "#", count: 33 << 20))
        let jar = CookieJar(file: folder.path)
        await jar.removeAll()
        try folder.write(Self.line("a", "1"))
        try await jar.set(Self.cookie)
        try await jar.save()
        #expect(await jar.cookies == [Self.cookie])
        #expect(await CookieJar(file: folder.path).cookies == [Self.cookie])
    }

    @Test func changesAreWrittenOnceTheFileCanBeRead() async throws {
        let folder = try Folder()
        try folder.write(String(repeating: "#", count: 33 << 20))
        let failures = Locked<[SluiceError]>([])
        let jar = CookieJar(file: folder.path) { error in failures.withLock { $0.append(error) } }
        try await jar.set(Self.cookie)
        _ = await #expect(throws: SluiceError.self) { try await jar.save() }
        try await waitUntil(within: .seconds(600)) { failures.withLock { $0.count } > 0 }
        try folder.write(Self.line("a", "1"))
        try await jar.load()
        try await waitUntil(within: .seconds(600)) { folder.text.contains("id") && folder.text.contains("a") }
        #expect(await CookieJar(file: folder.path).cookies.map(\.name) == ["a", "id"])
    }

    @Test func failedWriteIsRepeated() async throws {
        let folder = try Folder()
        let parent = folder.url.appending(path: "later")
        let path = parent.appending(path: "cookies.txt").path
        let failures = Locked(0)
        let jar = CookieJar(file: path) { _ in failures.withLock { $0 += 1 } }
        try await jar.set(Self.cookie)
        try await waitUntil(within: .seconds(600)) { failures.withLock { $0 } > 0 }
        try FileManager.default.createDirectory(at: parent, withIntermediateDirectories: true)
        try await waitUntil(within: .seconds(600)) { FileManager.default.fileExists(atPath: path) }
        #expect(await CookieJar(file: path).cookies == [Self.cookie])
        withExtendedLifetime(jar) {}
    }

    @Test func missingFolderFailsSavingAndIsReported() async throws {
        let folder = try Folder()
        let failures = Locked<[SluiceError]>([])
        let jar = CookieJar(file: folder.url.appending(path: "none/cookies.txt").path) { error in
            failures.withLock { $0.append(error) }
        }
        try await jar.load()
        try await jar.set(Self.cookie)
        try await waitUntil(within: .seconds(600)) { failures.withLock { $0.count } > 0 }
        #expect(failures.withLock { $0.first?.code } == .cookieFileFailed)
        let error = await #expect(throws: SluiceError.self) { try await jar.save() }
        #expect(error?.code == .cookieFileFailed)
        // The folder has a random name, which may contain the value.
        #expect(error?.description.replacing(folder.url.path, with: "").contains("17") == false)
    }

    @Test(arguments: ["", "\u{0}", "/tmp\u{0}x"])
    func rejectsInvalidPaths(_ path: String) async {
        let error = await #expect(throws: SluiceError.self) { try await CookieJar(file: path).load() }
        #expect(error?.code == .cookieFileFailed)
    }

    @Test func folderAtTheFilePathIsAnError() async throws {
        let folder = try Folder()
        let jar = CookieJar(file: folder.url.path)
        await #expect(throws: SluiceError.self) { try await jar.load() }
        await #expect(throws: SluiceError.self) { try await jar.save() }
    }

    @Test func concurrentChangesAreAllSaved() async throws {
        let folder = try Folder()
        let jar = CookieJar(file: folder.path)
        try await withThrowingTaskGroup { group in
            for number in 0..<50 {
                group.addTask {
                    try await jar.set(Cookie(name: "c\(number)", value: "1", domain: "a.example"))
                    if number % 10 == 0 { try await jar.save() }
                }
            }
            try await group.waitForAll()
        }
        try await jar.save()
        #expect(await CookieJar(file: folder.path).cookies.count == 50)
        #expect(folder.names == ["cookies.txt"])
    }
}
