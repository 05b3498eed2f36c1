import SluiceHTTP

/// Makes a model that builds itself from JSON.
///
/// ```swift
/// let users = client.serialized(by: JSONSerializer<[User]>(at: "data.users"))
/// let request: APIRequest<[User], GitHubError> = users.request("users")
/// ```
///
/// An empty body is an error, unless the model is ``Empty``, which does not look at the body at all.
public struct JSONSerializer<Model: JSONDecodable>: ResponseSerializer {
    private let path: JSONPath

    /// Makes a serializer.
    ///
    /// - Parameter path: Where in the body the model stands; by default it is the whole body.
    public init(at path: JSONPath = JSONPath()) {
        self.path = path
    }

    /// Makes the model.
    public func serialize(_ response: ServerResponse) throws(SluiceError) -> Model {
        if let empty = Empty() as? Model { return empty }
        do throws(DecodingFailure) {
            return try model(from: response)
        } catch {
            throw SluiceError(.decodingFailed, error.sentence, step: .serialization, underlyingError: error)
        }
    }

    private func model(from response: ServerResponse) throws(DecodingFailure) -> Model {
        let document: JSONDocument
        do throws(JSONSyntaxError) {
            document = try JSONDocument(response.body)
        } catch {
            throw DecodingFailure(Model.self, body: response.body, error: error)
        }
        do throws(JSONDecodingFailure) {
            return try Model(json: JSON(document, at: path, for: Model.self), at: path)
        } catch {
            throw DecodingFailure(Model.self, body: response.body, failure: error)
        }
    }
}

extension JSON {
    /// Makes a value of what a path leads to in a document.
    fileprivate init(
        _ document: JSONDocument,
        at path: JSONPath,
        for model: Any.Type
    ) throws(JSONDecodingFailure) {
        do throws(JSONPathFailure) {
            self.init(document, try document.find(path))
        } catch {
            throw JSONDecodingFailure(error, expected: model)
        }
    }
}
