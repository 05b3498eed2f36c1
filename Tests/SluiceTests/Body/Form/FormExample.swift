import Sluice
import Testing

/// A value, its encoder, and the expected text.
struct FormExample: Sendable, CustomTestStringConvertible {
    private let value: any Encodable & Sendable
    private let encoder: URLEncodedFormEncoder
    let text: String

    /// - Parameters:
    ///   - value: The value to encode.
    ///   - encoder: The encoder.
    ///   - text: The expected text, with brackets that are not escaped, although the encoder escapes them.
    init(
        _ value: some Encodable & Sendable,
        _ encoder: URLEncodedFormEncoder = URLEncodedFormEncoder(),
        is text: String
    ) {
        self.value = value
        self.encoder = encoder
        self.text = text.replacing("[", with: "%5B").replacing("]", with: "%5D")
    }

    func encoded() throws -> String {
        try encoder.encode(value)
    }

    var testDescription: String { text }
}
