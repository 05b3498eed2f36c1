import SluiceHTTP

/// Makes an image of a body in PNG, JPEG, GIF or WebP.
///
/// ```swift
/// let request = client.serialized(by: ImageSerializer()).request("users/1/avatar")
/// let avatar: ImageFile = try await request.sender().value
/// ```
public struct ImageSerializer: ResponseSerializer {
    /// Makes a serializer.
    public init() {}

    /// Reads format and size of the image; the `Content-Type` makes no difference.
    ///
    /// - Parameter response: A response that has passed validation.
    /// - Returns: The image.
    /// - Throws: A ``SluiceError`` of ``SluiceError/Code/decodingFailed``, caused by an ``ImageFailure``.
    public func serialize(_ response: ServerResponse) throws(SluiceError) -> ImageFile {
        do throws(ImageFailure) {
            return try ImageFile(data: response.body)
        } catch {
            let sentence = response.body.isEmpty ? "The response is no image: its body is empty." : error.description
            throw SluiceError(.decodingFailed, sentence, step: .serialization, underlyingError: error)
        }
    }
}
