import SluiceFoundation
import SluiceHTTP

/// A complete download at its destination.
public struct DownloadedFile: Sendable, Hashable {
    /// The URL of the file. With ``DownloadDestination/Conflict/keepBoth`` the name may have a number added.
    public let url: URL
    /// The length in bytes.
    public let length: Int64
    /// The number of bytes that came from an earlier send.
    public let resumedBytes: Int64
    /// The SHA-256 of the file in 64 hexadecimal digits, if it was verified; nil otherwise.
    public let sha256: String?

    /// Creates a value.
    ///
    /// - Parameters:
    ///   - url: The URL of the file.
    ///   - length: The length in bytes.
    ///   - resumedBytes: The number of bytes that came from an earlier send.
    ///   - sha256: The SHA-256 in hexadecimal digits.
    public init(url: URL, length: Int64, resumedBytes: Int64 = 0, sha256: String? = nil) {
        self.url = url
        self.length = length
        self.resumedBytes = resumedBytes
        self.sha256 = sha256
    }
}

// MARK: - Conversion into a model

/// Converts a downloaded file into a model.
///
/// ```swift
/// struct RowCount: DownloadSerializer {
///     func model(from file: DownloadedFile, response: ServerResponse) async throws -> Int {
///         try await CSV(at: file.url).rows.count
///     }
/// }
/// ```
public protocol DownloadSerializer<Model>: Sendable {
    /// The type of the model.
    associatedtype Model: Sendable

    /// Creates the model. The file is complete and at its destination, and stays there even if this throws.
    ///
    /// - Parameters:
    ///   - file: The file.
    ///   - response: The last response, without its body.
    /// - Returns: The model.
    /// - Throws: Any error. A ``SluiceError`` fails the request as it is, any other with
    ///   ``SluiceError/Code/decodingFailed``.
    func model(from file: DownloadedFile, response: ServerResponse) async throws -> Model
}

/// Returns the file itself as the model.
struct DownloadedFileSerializer: DownloadSerializer {
    func model(from file: DownloadedFile, response: ServerResponse) -> DownloadedFile { file }
}

/// Converts the file by a closure.
struct FileClosureSerializer<Model: Sendable>: DownloadSerializer {
    let serialize: @Sendable (DownloadedFile, ServerResponse) async throws -> Model

    func model(from file: DownloadedFile, response: ServerResponse) async throws -> Model {
        try await serialize(file, response)
    }
}

/// A serializer that reads the file as the body of a response, and extracts the part that contains the model.
protocol FileBodyDecoding<Model>: DownloadSerializer {
    var serializer: any ResponseSerializer<Model> { get }
}

/// Decodes the file in memory, as a response body is decoded.
struct DecodableFileSerializer<Model: Decodable & Sendable>: FileBodyDecoding {
    let decoder: SharedDecoder

    var serializer: any ResponseSerializer<Model> { CodableSerializer<Model>(decoder) }

    func model(from file: DownloadedFile, response: ServerResponse) async throws -> Model {
        try serializer.serialize(try await response.with(contentsOf: file))
    }
}

extension DownloadAPIRequest {
    /// Creates the model of a complete file.
    func model(from file: DownloadedFile, _ response: ServerResponse) async throws -> Model {
        guard let decoding = serializer as? any FileBodyDecoding<Model> else {
            return try await serializer.model(from: file, response: response)
        }
        return try draft.modelLocation.model(
            in: try await response.with(contentsOf: file),
            client.pipeline.configuration.envelope,
            by: decoding.serializer
        )
    }
}

extension ServerResponse {
    /// Returns a copy whose body is the contents of a file.
    fileprivate func with(contentsOf file: DownloadedFile) async throws -> ServerResponse {
        let reader = try await FileReader.open(file.url)
        var response = self
        response.body = Data()
        while let piece = try await reader.read() { response.body.append(piece) }
        return response
    }
}
