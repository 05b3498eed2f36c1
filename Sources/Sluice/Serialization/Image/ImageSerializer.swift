import SluiceHTTP

/// Reads a body as a PNG, JPEG, GIF or WebP image.
///
/// ```swift
/// let request = client.serialized(by: ImageSerializer()).request("users/1/avatar")
/// let avatar: ImageFile = try await request.sender().value
/// ```
public struct ImageSerializer: ResponseSerializer {
    /// Creates a serializer.
    public init() {}

    /// Reads the format and size of the image. The `Content-Type` is ignored.
    ///
    /// - Parameter response: A response that has passed validation.
    /// - Returns: The image.
    /// - Throws: A ``SluiceError`` with the code ``SluiceError/Code/decodingFailed`` and an ``ImageFailure`` as its
    ///   underlying error.
    public func serialize(_ response: ServerResponse) throws(SluiceError) -> ImageFile {
        do throws(ImageFailure) {
            return try ImageFile(data: response.body)
        } catch {
            let sentence = response.body.isEmpty ? "The response is no image: its body is empty." : error.description
            throw SluiceError(.decodingFailed, sentence, step: .serialization, underlyingError: error)
        }
    }
}
