import SluiceFoundation
import SluiceHTTP
import SluiceJSON

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

// MARK: - String serializer

/// Decodes a body as text, in the charset of the response: see ``APIClient/string``.
///
/// Charsets such as UTF-7 and UTF-32 are not supported, because a server should not be able to select any converter of
/// the system.
struct StringSerializer: ResponseSerializer {
    /// The charset for responses that specify none. If its name is unknown, those responses fail.
    var defaultCharset = "utf-8"

    /// Returns the text, without a byte order mark. An empty body is an empty string.
    func serialize(_ response: ServerResponse) throws(SluiceError) -> String {
        do throws(TextFailure) {
            if let mark = ByteOrderMark(of: response.body) {
                return try mark.charset.decode(response.body, from: mark.length)
            }
            // If there are several fields, use the last valid one, as in the Fetch Standard.
            let types = response.head.headers.values(for: .contentType).compactMap(ContentType.init)
            let label = types.last?.charset.flatMap { $0.isEmpty ? nil : $0 } ?? defaultCharset
            guard let charset = Charset(label: label) else { throw .unknown(label) }
            return try charset.decode(response.body, from: 0)
        } catch {
            throw SluiceError(.decodingFailed, error.description, step: .serialization, underlyingError: error)
        }
    }
}

// MARK: - Model serializers

/// A serializer that uses a decoder.
protocol DecodingSerializer {
    var decoder: SharedDecoder { get }
}

/// Decodes a `Decodable` model from a JSON body.
struct CodableSerializer<Model: Decodable & Sendable>: ResponseSerializer, DecodingSerializer {
    let decoder: SharedDecoder

    init(_ decoder: SharedDecoder) {
        self.decoder = decoder
    }

    /// True unless the decoder is a `PropertyListDecoder`.
    var readsJSON: Bool { decoder.readsJSON }

    /// Decodes the body. An ``Empty`` model accepts any body. A ``JSON`` model in UTF-8 is parsed directly instead of by an
    /// ordinary `JSONDecoder`, because that loses digits of numbers.
    func serialize(_ response: ServerResponse) throws(SluiceError) -> Model {
        guard let stored = response.storedModel else { return try model(of: response.body) }
        return try stored.model(of: response.body, by: decoder) { () throws(SluiceError) in
            try model(of: response.body)
        }
    }

    /// Decodes a body or a single line of one.
    func model(of body: Data) throws(SluiceError) -> Model {
        do {
            if Model.self == Empty.self { return try cast(Empty()) }
            if Model.self == JSON.self, decoder.readsStrictJSON, !JSONModelDecoder.isWide(body) {
                return try cast(JSON(parsing: body))
            }
            return try decoder.decode(Model.self, from: body)
        } catch let error as JSONSyntaxError {
            throw .undecodable(DecodingFailure(Model.self, body: body, error: error))
        } catch {
            throw .undecodable(DecodingFailure(Model.self, body: body, cause: error))
        }
    }

    /// Returns a value of the model's type. A separate function, because the cast looks up the metadata of an optional
    /// model.
    @inline(never)
    private func cast(_ value: some Sendable) throws(SluiceError) -> Model {
        guard let model = value as? Model else {
            throw SluiceError(.internalFailure, "\(type(of: value)) is not \(Model.self).", step: .serialization)
        }
        return model
    }
}

/// A reference to a decoder, so that the requests of a client share it without an allocation each.
final class SharedDecoder: Sendable {
    let decoder: any DataDecoder
    let readsJSON: Bool
    /// The faster decoder with the results of the `JSONDecoder`; nil for other decoders.
    private let modelDecoder: JSONModelDecoder?

    /// True for a `JSONDecoder` that reads what the standard allows (RFC 8259), and not a subclass.
    var readsStrictJSON: Bool { modelDecoder != nil }

    init(_ decoder: any DataDecoder) {
        self.decoder = decoder
        readsJSON = !(decoder is PropertyListDecoder)
        modelDecoder = JSONModelDecoder(decoder)
    }

    func decode<Model: Decodable>(_ type: Model.Type, from data: Data) throws -> Model {
        if let modelDecoder { return try modelDecoder.decode(type, from: data) }
        if decoder is JSONDecoder { try JSONModelDecoder.checkMarks(in: data) }
        return try decoder.decode(type, from: data)
    }
}

/// Creates a ``JSONDecodable`` model from a JSON body.
///
/// An empty body is an error unless the model is ``Empty``, which does not read the body.
struct JSONSerializer<Model: JSONDecodable>: ResponseSerializer {
    var readsJSON: Bool { true }

    func serialize(_ response: ServerResponse) throws(SluiceError) -> Model {
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

/// The model of a response without content, such as a 204. It accepts any body, including an empty one.
///
/// ```swift
/// _ = try await client.empty.delete("users/1").sender().value
/// ```
public struct Empty: JSONDecodable, Codable, Hashable, Sendable {
    /// Creates the value.
    public init() {}

    /// Creates the value from any JSON.
    public init(json: JSON) {}

    /// Creates the value without reading from the decoder.
    public init(from decoder: any Decoder) {}

    /// Encodes an empty object.
    public func encode(to encoder: any Encoder) throws {
        _ = encoder.container(keyedBy: NoKey.self)
    }

    private enum NoKey: CodingKey {}
}

/// Stands in for the serializer of a model that is not decodable, in functions that cannot be called.
struct UndecodableSerializer<Model: Sendable>: ResponseSerializer {
    func serialize(_ response: ServerResponse) throws(SluiceError) -> Model {
        throw SluiceError(.unsupported, "\(Model.self) is not decodable.", step: .serialization)
    }
}
