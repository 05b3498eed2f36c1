import SluiceHTTP

/// Makes a model of an accepted response.
public protocol ResponseSerializer<Model>: Sendable {
    /// What it makes.
    associatedtype Model: Sendable

    /// Makes the model.
    ///
    /// - Parameter response: A response that has passed validation.
    /// - Returns: The model.
    /// - Throws: A ``SluiceError``, of ``SluiceError/Code/decodingFailed`` as a rule.
    func serialize(_ response: ServerResponse) throws(SluiceError) -> Model
}
