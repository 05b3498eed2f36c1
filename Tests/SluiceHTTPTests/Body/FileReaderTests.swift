import SluiceHTTP
import SluiceTesting
import Testing

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif
#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

@Suite(.timeLimit(.minutes(10))) struct FileReaderTests {
    private static let piece = FileReader.pieceSize

    @Test(
        arguments: [
            (0, []), (1, [1]), (piece - 1, [piece - 1]), (piece, [piece]), (piece + 1, [piece, 1]),
            (piece * 2 + 5, [piece, piece, 5]),
        ] as [(Int, [Int])]
    )
    func fileIsReadInPieces(count: Int, pieces: [Int]) async throws {
        let data = Data((0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31 ^ $0 >> 8) })
        let file = try TemporaryFile(data)
        defer { file.remove() }
        let reader = try await FileReader.open(file.url)
        #expect(reader.length == count)
        var read: [Data] = []
        while let piece = try await reader.read() { read.append(piece) }
        #expect(read.map(\.count) == pieces)
        #expect(read.reduce(Data(), +) == data)
    }

    #if os(Linux)
    /// Such a file would be sent as an empty body.
    @Test func fileWithContentsAndALengthOfZeroIsRefused() async throws {
        let error = await #expect(throws: SluiceError.self) {
            try await RequestBody.file(URL(filePath: "/proc/self/status")).prepared(within: nil)
        }
        #expect(error?.code == .bodyUnavailable)
        let empty = try TemporaryFile(Data())
        defer { empty.remove() }
        #expect(try await RequestBody.file(empty.url).prepared(within: nil).length == 0)
    }
    #endif

    @Test func readReturnsAtMostTheRequestedBytes() async throws {
        let file = try TemporaryFile(Data("abcde".utf8))
        defer { file.remove() }
        let reader = try await FileReader.open(file.url)
        #expect(try await reader.read(upTo: 2) == Data("ab".utf8))
        #expect(try await reader.read(upTo: 1) == Data("c".utf8))
        #expect(try await reader.read(upTo: 100) == Data("de".utf8))
        #expect(try await reader.read(upTo: 100) == nil)
    }

    @Test(
        arguments: [
            (URL(filePath: "/no/such/file"), "The file “/no/such/file” cannot be read: No such file or directory."),
            (URL(filePath: "/tmp", directoryHint: .isDirectory), "The file “/tmp” cannot be read: it is a directory."),
            (URL(filePath: "/dev/null"), "The file “/dev/null” cannot be read: it is not a regular file."),
            (URL(string: "https://host/etc/hosts"), "A URL with the scheme “https” is not a file URL."),
        ] as [(URL?, String)]
    )
    func opensRegularFilesOnly(url: URL?, reason: String) async throws {
        let url = try #require(url)
        let error = await #expect(throws: SluiceError.self) { try await FileReader.open(url) }
        #expect(error?.code == .bodyUnavailable)
        #expect(error?.reason == reason)
    }

    /// A blocking open for reading would wait for a writer, which never comes.
    @Test func pipeWithoutAWriterFailsAtOnce() async throws {
        let path = "/tmp/sluice-\(UUID().uuidString)"
        try #require(mkfifo(path, 0o600) == 0)
        defer { unlink(path) }
        let error = await #expect(throws: SluiceError.self) { try await FileReader.open(URL(filePath: path)) }
        #expect(error?.code == .bodyUnavailable)
    }

    @Test(.disabled(if: getuid() == 0, "root may read everything"))
    func fileWithoutReadPermissionIsUnavailable() async throws {
        let file = try TemporaryFile(Data("a".utf8))
        defer { file.remove() }
        chmod(file.url.path, 0)
        let error = await #expect(throws: SluiceError.self) { try await FileReader.open(file.url) }
        #expect(error?.reason.hasSuffix("Permission denied.") == true)
    }

    #if os(Linux)
    @Test func descriptorIsClosedWithTheReader() async throws {
        let file = try TemporaryFile(Data("abc".utf8))
        defer { file.remove() }
        do {
            let reader = try await FileReader.open(file.url)
            #expect(file.openDescriptors == 1)
            _ = try await reader.read(upTo: 1)
        }
        #expect(file.openDescriptors == 0)
    }
    #endif
}
