import SluiceHTTP

/// Creates a ``JSONDecodable`` model from a JSON body.
///
/// An empty body is an error unless the model is ``Empty``, which does not read the body.
public struct JSONSerializer<Model: JSONDecodable>: ResponseSerializer {
    /// Creates a serializer.
    public init() {}

    /// Always true.
    public var readsJSON: Bool { true }

    /// Creates the model.
    public func serialize(_ response: ServerResponse) throws(SluiceError) -> Model {
        if Model.self == Empty.self, let empty = Empty() as? Model { return empty }
        let json: JSON
        do {
            json = try JSON(parsing: response.body)
        } catch {
            throw .undecodable(DecodingFailure(Model.self, body: response.body, error: error))
        }
        do {
            return try Model(json: json, at: JSONPath())
        } catch {
            throw .undecodable(DecodingFailure(Model.self, body: response.body, failure: error))
        }
    }
}
