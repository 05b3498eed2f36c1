import Foundation
import SluiceHTTP

@testable import Sluice

/// A folder that downloads go to, gone when the test is.
final class DownloadFolder: Sendable {
    static let key = "GET http://files.test/file.bin"

    let url: URL

    /// Makes one, within the system's temporary folder if nothing else is said.
    init(in parent: URL = FileManager.default.temporaryDirectory) throws {
        url = parent.appending(path: "sluice-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    deinit {
        try? FileManager.default.removeItem(at: url)
    }

    /// The file that tests download.
    var file: URL { url.appending(path: "file.bin") }

    /// What lies in the folder, hidden files included.
    var names: [String] { ((try? FileManager.default.contentsOfDirectory(atPath: url.path)) ?? []).sorted() }

    /// Of which there are several where several download at once.
    var partCount: Int { names.filter { $0.hasSuffix(".sluicepart") }.count }

    func text(of name: String = "file.bin") -> String? {
        (try? Data(contentsOf: url.appending(path: name))).map { String(decoding: $0, as: UTF8.self) }
    }

    func write(_ text: String, to name: String = "file.bin") throws {
        try Data(text.utf8).write(to: url.appending(path: name))
    }

    /// Where the part and the journal of that file are.
    func place(_ destination: DownloadDestination? = nil) throws -> PartPlace {
        try PartPlace(key: Self.key, destination: destination ?? .file(file))
    }

    func open(
        _ destination: DownloadDestination? = nil,
        lease: PartLease = PartLease()
    ) async throws(SluiceError) -> PartFile {
        try await PartFile.open(key: Self.key, destination: destination ?? .file(file), lease: lease)
    }

    /// A part with the beginning of a file of ten digits.
    func begun(_ text: String = "01234", _ destination: DownloadDestination? = nil) async throws -> PartFile {
        let part = try await open(destination)
        try await part.begin(.digits)
        try await part.write(text, at: 0)
        return part
    }

    /// Leaves what an earlier process might have left.
    func leave(part: String, journal: Data) throws {
        let place = try place()
        try Data(part.utf8).write(to: URL(filePath: place.part))
        try journal.write(to: URL(filePath: place.journal))
    }
}

extension RemoteResource {
    /// Ten bytes that have a validator.
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

extension PartFile {
    func write(_ text: String, at offset: Int64) async throws(SluiceError) {
        try await write([Data(text.utf8)], at: offset)
    }
}

extension SluiceError.Code {
    /// The code of what some work throws; nil where it throws nothing or something else.
    static func thrown(by work: () async throws -> Void) async -> SluiceError.Code? {
        do {
            try await work()
            return nil
        } catch {
            return (error as? SluiceError)?.code
        }
    }
}
