import Sluice
import Testing

/// A value, how to encode it, and the text it should give.
struct FormExample: Sendable, CustomTestStringConvertible {
    private let value: any Encodable & Sendable
    private let encoder: URLEncodedFormEncoder
    let text: String

    /// - Parameters:
    ///   - value: What is encoded.
    ///   - encoder: By which encoder.
    ///   - text: What should come of it, with brackets as they are, though they are escaped.
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
