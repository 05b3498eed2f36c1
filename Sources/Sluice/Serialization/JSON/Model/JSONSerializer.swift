import SluiceHTTP

/// Makes a model that builds itself from JSON.
///
/// An empty body is an error, unless the model is ``Empty``, which does not look at the body at all.
public struct JSONSerializer<Model: JSONDecodable>: ResponseSerializer {
    /// Makes a serializer.
    public init() {}

    /// JSON.
    public var readsJSON: Bool { true }

    /// Makes the model.
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
