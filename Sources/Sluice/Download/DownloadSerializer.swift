import SluiceHTTP

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Makes a model of a file that has been downloaded.
///
/// ```swift
/// struct RowCount: DownloadSerializer {
///     func model(from file: DownloadedFile, response: ServerResponse) async throws -> Int {
///         try await CSV(at: file.url).rows.count
///     }
/// }
/// ```
public protocol DownloadSerializer<Model>: Sendable {
    /// What is made.
    associatedtype Model: Sendable

    /// Makes the model. The file is whole and in its place, and stays there whatever comes of this.
    ///
    /// - Parameters:
    ///   - file: The file.
    ///   - response: The last response, without its body.
    /// - Returns: The model.
    /// - Throws: Anything; the request fails with ``SluiceError/Code/decodingFailed``, or with a ``SluiceError`` as it is.
    func model(from file: DownloadedFile, response: ServerResponse) async throws -> Model
}

/// Leaves the file as it is.
struct DownloadedFileSerializer: DownloadSerializer {
    func model(from file: DownloadedFile, response: ServerResponse) -> DownloadedFile { file }
}

/// Decodes the file as the model of a request is decoded, in memory.
struct DecodableFileSerializer<Model: Decodable & Sendable>: DownloadSerializer {
    let decoder: SharedDecoder

    func model(from file: DownloadedFile, response: ServerResponse) async throws -> Model {
        let reader = try await FileReader.open(file.url)
        var contents = Data()
        while let piece = try await reader.read() { contents.append(piece) }
        var response = response
        response.body = contents
        return try CodableSerializer(decoder).serialize(response)
    }
}
