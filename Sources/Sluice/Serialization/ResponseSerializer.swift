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

    /// Whether the body is JSON to it, so that the client's ``Envelope`` is opened first; false by default.
    var readsJSON: Bool { get }
}

extension ResponseSerializer {
    /// The body is taken as it is.
    public var readsJSON: Bool { false }
}
