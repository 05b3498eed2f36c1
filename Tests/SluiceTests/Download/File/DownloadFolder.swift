import Foundation
import SluiceHTTP

@testable import Sluice

/// A folder for downloads, removed when it is deallocated.
final class DownloadFolder: Sendable {
    static let key = "GET http://files.test/file.bin"

    let url: URL

    /// Creates a folder, by default in the system's temporary folder.
    init(in parent: URL = FileManager.default.temporaryDirectory) throws {
        url = parent.appending(path: "sluice-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    deinit {
        try? FileManager.default.removeItem(at: url)
    }

    /// The file that tests download.
    var file: URL { url.appending(path: "file.bin") }

    /// The names in the folder, including hidden files.
    var names: [String] { ((try? FileManager.default.contentsOfDirectory(atPath: url.path)) ?? []).sorted() }

    /// The number of partial files. Concurrent downloads have several.
    var partCount: Int { names.filter { $0.hasSuffix(".sluicepart") }.count }

    func text(of name: String = "file.bin") -> String? {
        (try? Data(contentsOf: url.appending(path: name))).map { String(decoding: $0, as: UTF8.self) }
    }

    /// The properties of a file, of a symbolic link itself.
    func status(of name: String) throws -> stat {
        var status = stat()
        guard lstat(url.appending(path: name).path, &status) == 0 else { throw CocoaError(.fileReadNoSuchFile) }
        return status
    }

    func write(_ text: String, to name: String = "file.bin") throws {
        try Data(text.utf8).write(to: url.appending(path: name))
    }

    /// Returns the paths of the partial file and its journal.
    func place(_ destination: DownloadDestination? = nil) throws -> PartialDownloadLocation {
        try PartialDownloadLocation(key: Self.key, destination: destination ?? .file(file))
    }

    func open(
        _ destination: DownloadDestination? = nil,
        lease: PartialDownloadLease = PartialDownloadLease()
    ) async throws(SluiceError) -> PartialDownload {
        try await PartialDownload.open(key: Self.key, destination: destination ?? .file(file), lease: lease)
    }

    /// Returns a partial file with the start of a file of ten digits.
    func beginPart(_ text: String = "01234", _ destination: DownloadDestination? = nil) async throws -> PartialDownload
    {
        let part = try await open(destination)
        try await part.begin(.digits)
        try await part.write(text, at: 0)
        return part
    }

    /// Creates the files that an earlier process may have left.
    func writeLeftovers(part: String, journal: Data) throws {
        let place = try place()
        try Data(part.utf8).write(to: URL(filePath: place.part))
        try journal.write(to: URL(filePath: place.journal))
    }
}

extension RemoteResource {
    /// A resource of ten bytes with a validator.
    static let digits = RemoteResource(
        url: "http://files.test/file.bin",
        validator: .entityTag("\"digits\""),
        length: 10,
        name: "digits.txt"
    )

    func with(_ change: (inout RemoteResource) -> Void) -> RemoteResource {
        var resource = self
        change(&resource)
        return resource
    }
}

extension PartialDownload {
    func write(_ text: String, at offset: Int64) async throws(SluiceError) {
        try await write([Data(text.utf8)], at: offset)
    }
}

extension SluiceError.Code {
    /// Returns the code of the `SluiceError` that a closure throws; nil if it throws nothing or another error.
    static func thrown(by work: () async throws -> Void) async -> SluiceError.Code? {
        do {
            try await work()
            return nil
        } catch {
            return (error as? SluiceError)?.code
        }
    }
}
