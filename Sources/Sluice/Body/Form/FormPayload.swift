import SluiceHTTP

/// A value that becomes a query or a form body when its request is sent.
struct FormPayload: Sendable {
    static let contentType = "application/x-www-form-urlencoded"

    let value: any Encodable & Sendable
    let encoder: URLEncodedFormEncoder

    /// The text of a query, without the question mark, or of a form body; empty if the value has nothing to say.
    func text() throws(SluiceError) -> String {
        do throws(FormEncodingFailure) {
            return try encoder.encode(value)
        } catch {
            throw SluiceError(.encodingFailed, error.sentence, step: .building, underlyingError: error)
        }
    }
}
