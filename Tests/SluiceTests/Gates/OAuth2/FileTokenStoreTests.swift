import Foundation
import Sluice
import Testing

/// A folder that is removed when it is deallocated.
private final class Folder {
    let url = FileManager.default.temporaryDirectory.appending(path: "sluice-\(UUID().uuidString)")

    init() throws {
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    deinit {
        try? FileManager.default.removeItem(at: url)
    }

    var file: URL { url.appending(path: "token.json") }
    var names: [String] { ((try? FileManager.default.contentsOfDirectory(atPath: url.path)) ?? []).sorted() }
    var mode: Int? {
        (try? FileManager.default.attributesOfItem(atPath: file.path))?[.posixPermissions] as? Int
    }

    func write(_ text: String, mode: Int = 0o600) throws {
        try Data(text.utf8).write(to: file)
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: file.path)
    }
}

@Suite struct FileTokenStoreTests {
    private static let token = OAuth2.Token(
        accessToken: "a",
        expiresAt: Date(timeIntervalSince1970: 1_800_000_000),
        refreshToken: "r",
        scope: "x y"
    )

    /// The superuser can read a private file of anyone.
    @Test(.enabled(if: geteuid() == 0, "Only the superuser can give a file away."))
    func fileOfAnotherUserIsRefused() async throws {
        let folder = try Folder()
        let store = FileTokenStore(folder.file)
        try await store.save(Self.token)
        #expect(chown(folder.file.path, 65_534, 65_534) == 0)
        let error = await #expect(throws: TokenStoreError.self) { try await store.load() }
        #expect(error.map { "\($0)" }?.contains("belongs to another user") == true, "\(String(describing: error))")
    }

    /// A process that is killed while it saves leaves a file with the token.
    @Test func unfinishedFilesAreRemoved() async throws {
        let folder = try Folder()
        let store = FileTokenStore(folder.file)
        let (old, new) = ("token.json.1a2b.sluicetmp", "token.json.2b3c.sluicetmp")
        let others = [
            "other.json.1a2b.sluicetmp", "token.json.old", "token.json.1.2.sluicetmp", "token.json2.1a2b.sluicetmp",
            "token.json.my-copy.sluicetmp",
        ]
        for removes in [false, true] {
            for name in [old, new] + others {
                let file = folder.url.appending(path: name)
                try Data("secret".utf8).write(to: file)
                let date = name == new ? Date.now : Date.now - 3601
                try FileManager.default.setAttributes([.modificationDate: date], ofItemAtPath: file.path)
            }
            if removes { try await store.delete() } else { _ = try await store.load() }
            // A younger one may be in use, unless the token is deleted: it must not come back.
            #expect(folder.names == (others + (removes ? [] : [new])).sorted())
        }
    }

    @Test func savesLoadsAndDeletesToken() async throws {
        let folder = try Folder()
        let store = FileTokenStore(folder.file)
        #expect(try await store.load() == nil)
        try await store.save(OAuth2.Token(accessToken: "first"))
        try await store.save(Self.token)
        #expect(try await FileTokenStore(folder.file).load() == Self.token)
        #expect(folder.names == ["token.json"])
        #expect(folder.mode == 0o600)
        try await store.delete()
        try await store.delete()
        #expect(try await store.load() == nil)
        #expect(folder.names.isEmpty)
    }

    @Test(arguments: [0o644, 0o640, 0o604, 0o620, 0o602, 0o610])
    func rejectsFileReadableByOthers(_ mode: Int) async throws {
        let folder = try Folder()
        try folder.write(#"{"access_token":"s3cret"}"#, mode: mode)
        let error = await #expect(throws: TokenStoreError.self) { try await FileTokenStore(folder.file).load() }
        #expect(error?.description.contains("chmod 600") == true)
        // Saving a new token makes the file private.
        try await FileTokenStore(folder.file).save(Self.token)
        #expect(folder.mode == 0o600)
    }

    @Test(arguments: ["", "{", "null", "s3cret", #"{"access_token":"s3cret""#, #"{"access_token":["s3cret"]}"#, "\0\0"])
    func rejectsInvalidFileAndLeavesItUnchanged(_ text: String) async throws {
        let folder = try Folder()
        try folder.write(text)
        let error = await #expect(throws: TokenStoreError.self) { try await FileTokenStore(folder.file).load() }
        #expect(error?.description.contains(folder.file.path) == true)
        #expect(error?.description.contains("s3cret") == false)
        #expect(try String(contentsOf: folder.file, encoding: .utf8) == text)
    }

    @Test func rejectsFileOverOneMebibyte() async throws {
        let folder = try Folder()
        try folder.write(String(repeating: " ", count: (1 << 20) + 1))
        await #expect(throws: TokenStoreError.self) { try await FileTokenStore(folder.file).load() }
    }

    @Test func rejectsDirectoryAndPipe() async throws {
        let folder = try Folder()
        try FileManager.default.createDirectory(at: folder.file, withIntermediateDirectories: true)
        let store = FileTokenStore(folder.file)
        await #expect(throws: TokenStoreError.self) { try await store.load() }
        await #expect(throws: TokenStoreError.self) { try await store.save(Self.token) }
        #expect(folder.names == ["token.json"])
        let pipe = folder.url.appending(path: "pipe")
        #expect(mkfifo(pipe.path, 0o600) == 0)
        await #expect(throws: TokenStoreError.self) { try await FileTokenStore(pipe).load() }
    }

    @Test func saveFailsIfFolderIsMissing() async throws {
        let store = FileTokenStore(URL(filePath: "/nonexistent/sluice/token.json"))
        #expect(try await store.load() == nil)
        let error = await #expect(throws: TokenStoreError.self) { try await store.save(Self.token) }
        #expect(error?.description.contains("No such file") == true)
        try await store.delete()
    }

    @Test func concurrentWritesLeaveOneCompleteToken() async throws {
        let folder = try Folder()
        let file = folder.file
        let tokens = (0..<20).map { OAuth2.Token(accessToken: String(repeating: "\($0)", count: 2000)) }
        await withTaskGroup(of: Void.self) { group in
            for token in tokens {
                group.addTask { try? await FileTokenStore(file).save(token) }
            }
        }
        let left = try await FileTokenStore(folder.file).load()
        #expect(left.map(tokens.contains) == true)
        #expect(folder.names == ["token.json"])
    }
}
