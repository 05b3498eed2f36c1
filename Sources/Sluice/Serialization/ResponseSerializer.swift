import SluiceFoundation
import SluiceHTTP

/// Creates a model from an accepted response.
public protocol ResponseSerializer<Model>: Sendable {
    /// The type of the model.
    associatedtype Model: Sendable

    /// Creates the model.
    ///
    /// - Parameter response: A response that has passed validation.
    /// - Returns: The model.
    /// - Throws: A ``SluiceError``, usually with the code ``SluiceError/Code/decodingFailed``.
    func serialize(_ response: ServerResponse) throws(SluiceError) -> Model

    /// True if the serializer reads the body as JSON, so that the client's ``Envelope`` is opened first; false by
    /// default.
    var readsJSON: Bool { get }
}

extension ResponseSerializer {
    /// False: the body is used unchanged.
    public var readsJSON: Bool { false }
}

/// Returns the body unchanged.
struct DataSerializer: ResponseSerializer {
    func serialize(_ response: ServerResponse) throws(SluiceError) -> Data {
        response.body
    }
}

/// Creates the model by a closure.
struct ClosureSerializer<Model: Sendable>: ResponseSerializer {
    let closure: @Sendable (ServerResponse) throws -> Model

    func serialize(_ response: ServerResponse) throws(SluiceError) -> Model {
        do {
            return try closure(response)
        } catch let error as SluiceError {
            throw error
        } catch {
            throw SluiceError(
                .decodingFailed,
                "The response could not be converted to \(Model.self).",
                step: .serialization,
                underlyingError: error
            )
        }
    }
}
