// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

import SluiceFoundation
import SluiceHTTP

// Names and arguments of other libraries, and those that people try first. None can be called: each says what to write.

extension BodyRequest {
    @available(
        *,
        unavailable,
        message:
            "The result is an APIRequest: return that, or assign it to a new constant. If the value can be nil, write \"body(value.map { .json($0) })\"."
    )
    @_disfavoredOverload
    public func json(_ value: some Encodable & Sendable, root: String? = nil) -> BodyRequest { self }
    @available(*, unavailable, message: "The value can be nil: write \"body(value.map { .json($0) })\".")
    @_disfavoredOverload
    public func json(_ value: (any Encodable)?, root: String? = nil) -> APIRequest<Model, ErrorModel> { request }
    @available(*, unavailable, message: "The value can be nil: write \"body(value.map { .form($0) })\".")
    @_disfavoredOverload
    public func form(_ value: (any Encodable)?) -> APIRequest<Model, ErrorModel> { request }
    @available(*, unavailable, message: "Say that the values are JSON: \"json([1, \"a\"] as JSON)\".")
    public func json(_ values: [Any]) -> APIRequest<Model, ErrorModel> { request }
    @available(*, unavailable, message: "Write \"data(data, contentType: \"image/png\")\".")
    public func body(_ data: Data) -> APIRequest<Model, ErrorModel> { request }
    @available(*, unavailable, message: "Write \"data(data, contentType: \"image/png\")\".")
    public func body(_ data: Data, contentType: String) -> APIRequest<Model, ErrorModel> { request }
    @available(*, unavailable, message: "Write \"data(Data(bytes), contentType: \"image/png\")\".")
    public func body(_ bytes: [UInt8]) -> APIRequest<Model, ErrorModel> { request }
    @available(*, unavailable, message: "Write \"data(Data(text.utf8), contentType: \"text/plain\")\".")
    public func body(_ text: String) -> APIRequest<Model, ErrorModel> { request }
    @available(*, unavailable, message: "Write \"json(value)\" or \"form(value)\".")
    public func body(_ value: some Encodable) -> APIRequest<Model, ErrorModel> { request }
    @available(*, unavailable, message: "Write \"file(url)\".")
    public func body(_ url: URL) -> APIRequest<Model, ErrorModel> { request }
    @available(*, unavailable, message: "Write \"file(url)\".")
    public func body(file: URL) -> APIRequest<Model, ErrorModel> { request }
    @available(*, unavailable, message: "Write \"file(URL(filePath: path))\".")
    public func body(file path: String) -> APIRequest<Model, ErrorModel> { request }
    @available(*, unavailable, message: "Write \"data(data, contentType: \"image/png\")\".")
    public func body(data: Data) -> APIRequest<Model, ErrorModel> { request }
    @available(*, unavailable, message: "Write \"json(value)\".")
    public func body(json value: some Encodable) -> APIRequest<Model, ErrorModel> { request }
    @available(*, unavailable, message: "Write \"json([\"name\": name])\".")
    public func body(json parameters: Parameters) -> APIRequest<Model, ErrorModel> { request }
    @available(*, unavailable, message: "Write \"form(value)\".")
    public func body(form value: some Encodable) -> APIRequest<Model, ErrorModel> { request }
    @available(*, unavailable, message: "Write \"form([\"name\": name])\".")
    public func body(form parameters: Parameters) -> APIRequest<Model, ErrorModel> { request }
    @available(*, unavailable, message: "Write \"data(Data(text.utf8), contentType: \"text/plain\")\".")
    public func text(_ text: String) -> APIRequest<Model, ErrorModel> { request }
    @available(*, unavailable, message: "Write \"data(Data(text.utf8), contentType: \"text/plain\")\".")
    public func string(_ text: String) -> APIRequest<Model, ErrorModel> { request }
    @available(*, unavailable, message: "Write \"data(Data(bytes))\".")
    public func bytes(_ bytes: [UInt8]) -> APIRequest<Model, ErrorModel> { request }
    @available(*, unavailable, message: "Write \"data(Data(bytes))\".")
    public func data(_ bytes: [UInt8]) -> APIRequest<Model, ErrorModel> { request }
    @available(*, unavailable, message: "Write \"file(URL(filePath: path))\".")
    public func file(_ path: String) -> APIRequest<Model, ErrorModel> { request }
    @available(*, unavailable, message: "Write \"file(url)\".")
    public func file(at url: URL) -> APIRequest<Model, ErrorModel> { request }
    @available(*, unavailable, message: "Write \"body(.stream(chunks))\".")
    public func stream(_ chunks: some AsyncSequence, length: Int64? = nil) -> APIRequest<Model, ErrorModel> { request }
    @available(*, unavailable, message: "Write \"form([\"name\": name])\".")
    public func urlEncoded(_ parameters: Parameters) -> APIRequest<Model, ErrorModel> { request }
    @available(*, unavailable, message: "Write \"form([\"name\": value])\".")
    public func form(_ name: String, _ value: String?) -> APIRequest<Model, ErrorModel> { request }
    @available(*, unavailable, message: "Write \"multipart([.text(\"Ada\", name: \"name\")])\".")
    public func multipart(_ parts: [String: String]) -> APIRequest<Model, ErrorModel> { request }
    @available(*, unavailable, message: "Write \"multipart([.text(\"Ada\", name: \"name\")])\".")
    public func multipart(_ build: (inout MultipartForm) -> Void) -> APIRequest<Model, ErrorModel> { request }
}

extension MultipartForm {
    @available(*, unavailable, message: "Write \"MultipartForm()\": a form chooses its boundary.")
    @_disfavoredOverload
    public init(boundary: String) { self.init() }
    @available(*, unavailable, message: "Write \"append(.text(\"Ada\", name: \"name\"))\".")
    public mutating func append(_ name: String, _ value: String) {}
    @available(*, unavailable, message: "Write \"append(.text(\"Ada\", name: \"name\"))\".")
    public mutating func add(_ part: Part) {}
    @available(*, unavailable, message: "Write \"append(.data(data, name: \"picture\"))\".")
    public mutating func append(_ data: Data, withName name: String, _ hint: Void = ()) {}
    @available(*, unavailable, message: "Write \"append(.data(data, name: …, fileName: …, contentType: …))\".")
    public mutating func append(_ data: Data, withName name: String, fileName: String, mimeType: String) {}
    @available(*, unavailable, message: "Write \"append(.data(data, name: …, fileName: …, contentType: …))\".")
    public mutating func append(_ data: Data, name: String, fileName: String, mimeType: String) {}
    @available(*, unavailable, message: "Write \"append(.file(url, name: \"picture\"))\".")
    public mutating func append(_ file: URL, withName name: String, _ hint: Void = ()) {}
    @available(*, unavailable, message: "Write \"append(.file(url, name: …, fileName: …, contentType: …))\".")
    public mutating func append(_ file: URL, withName name: String, fileName: String, mimeType: String) {}
    @available(*, unavailable, message: "Write \"append(.text(\"Ada\", name: \"name\"))\".")
    public mutating func append(_ text: String, withName name: String, _ hint: Void = ()) {}
    @available(*, unavailable, message: "Append the parts one by one: \"form.append(part)\".")
    public init(_ parts: [Part]) { self.init() }
    @available(*, unavailable, message: "Append the parts one by one: \"form.append(part)\".")
    public init(parts: [Part]) { self.init() }
    @available(*, unavailable, message: "Write \"append(.file(url, name: \"picture\"))\".")
    public mutating func append(_ file: URL, name: String, _ hint: Void = ()) {}
    @available(*, unavailable, message: "Write \"append(.data(data, name: \"picture\"))\".")
    public mutating func append(_ data: Data, name: String, _ hint: Void = ()) {}
    @available(*, unavailable, message: "Write \"append(.text(\"Ada\", name: \"name\"))\".")
    public mutating func append(_ text: String, name: String, _ hint: Void = ()) {}
}

@available(*, unavailable, message: "Write the parts as an array: \"[.text(\"Ada\", name: \"name\")]\".")
extension MultipartForm: ExpressibleByDictionaryLiteral {
    public init(dictionaryLiteral elements: (String, String)...) { self.init() }
}

extension MultipartForm.Part {
    @available(*, unavailable, message: "Write \".text(\"Ada\", name: \"name\")\".")
    public static func field(_ name: String, _ value: String) -> MultipartForm.Part { .text(value, name: name) }
    @available(*, unavailable, message: "Write the text first, and the label: \".text(\"Ada\", name: \"name\")\".")
    public static func text(_ name: String, _ value: String) -> MultipartForm.Part { .text(value, name: name) }
    @available(*, unavailable, message: "Write the number as text: \".text(\"\\(number)\", name: \"page\")\".")
    public static func text(_ number: some BinaryInteger, name: String) -> MultipartForm.Part { .text("", name: name) }
    @available(*, unavailable, message: "Write \".file(URL(filePath: path), name: \"picture\")\".")
    public static func file(_ path: String, name: String) -> MultipartForm.Part { .text("", name: name) }
    @available(*, unavailable, message: "Write \"contentType:\" in place of \"mimeType:\".")
    public static func file(_ url: URL, name: String, fileName: String, mimeType: String) -> MultipartForm.Part {
        .text("", name: name)
    }
    @available(*, unavailable, message: "Write \"contentType:\" in place of \"mimeType:\".")
    public static func data(_ data: Data, name: String, mimeType: String) -> MultipartForm.Part {
        .text("", name: name)
    }
    @available(*, unavailable, message: "Write \"contentType:\" in place of \"mimeType:\".")
    public static func data(_ data: Data, name: String, fileName: String, mimeType: String) -> MultipartForm.Part {
        .text("", name: name)
    }
    @available(*, unavailable, message: "Write \"contentType:\" in place of \"mimeType:\".")
    public static func file(_ url: URL, name: String, mimeType: String) -> MultipartForm.Part {
        .text("", name: name)
    }
}

extension BodyRequest {
    @available(*, unavailable, message: "Write brackets: \"multipart([.text(\"Ada\", name: \"name\")])\".")
    public func multipart(
        _ first: MultipartForm.Part,
        _ others: MultipartForm.Part...
    ) -> APIRequest<Model, ErrorModel> { request }
    @available(*, unavailable, message: "Write \"file(url, range: start..<(start + count))\".")
    public func file(_ url: URL, offset: Int, length: Int) -> APIRequest<Model, ErrorModel> { request }
}

extension RequestBody {
    @available(*, unavailable, message: "Write brackets: \".multipart([.text(\"Ada\", name: \"name\")])\".")
    public static func multipart(_ first: MultipartForm.Part, _ others: MultipartForm.Part...) -> RequestBody { .none }
    @available(*, unavailable, message: "Write \".file(url, range: start..<(start + count))\".")
    public static func file(_ url: URL, offset: Int, length: Int) -> RequestBody { .none }
}

// MARK: - Tasks of Moya

/// The parameter encodings of Moya. In Sluice, the name of the modifier selects the encoding.
@available(*, unavailable, message: "Write \".parameters([\"page\": 1])\", \".query([…])\" or \".form([…])\".")
public enum URLEncoding {
    case `default`, queryString, httpBody
}

/// The parameter encodings of Moya. In Sluice, the name of the modifier selects the encoding.
@available(*, unavailable, message: "Write \".json([\"name\": name])\".")
public enum JSONEncoding {
    case `default`, prettyPrinted
}

extension RequestTask {
    @available(*, unavailable, message: "Write \".plain\".")
    public static var requestPlain: RequestTask { .plain }
    @available(*, unavailable, message: "Write \".data(data, contentType: \"image/png\")\".")
    public static func requestData(_ data: Data) -> RequestTask { .plain }
    @available(*, unavailable, message: "Write \".json(user)\".")
    public static func requestJSONEncodable(_ value: some Encodable) -> RequestTask { .plain }
    @available(*, unavailable, message: "Write \".json(user, encoder: encoder)\".")
    public static func requestCustomJSONEncodable(_ value: some Encodable, encoder: JSONEncoder) -> RequestTask {
        .plain
    }
    @available(*, unavailable, message: "Write \".parameters([\"page\": 1])\", \".json([…])\" or \".form([…])\".")
    public static func requestParameters(parameters: Parameters, encoding: Any = ()) -> RequestTask { .plain }
    @available(*, unavailable, message: "Write \".json([\"name\": name]).query([\"page\": 1])\".")
    public static func requestCompositeParameters(
        bodyParameters: Parameters,
        bodyEncoding: Any = (),
        urlParameters: Parameters
    ) -> RequestTask { .plain }
    @available(*, unavailable, message: "Write \".data(data, contentType: \"image/png\").query([\"page\": 1])\".")
    public static func requestCompositeData(bodyData: Data, urlParameters: Parameters) -> RequestTask { .plain }
    @available(*, unavailable, message: "Write \".file(url)\".")
    public static func uploadFile(_ url: URL) -> RequestTask { .plain }
    @available(*, unavailable, message: "Write \".multipart([.file(url, name: \"picture\")])\".")
    public static func uploadMultipart(_ form: MultipartForm) -> RequestTask { .plain }
    @available(*, unavailable, message: "Write \".multipart([.file(url, name: \"picture\")]).query([\"page\": 1])\".")
    public static func uploadCompositeMultipart(_ form: MultipartForm, urlParameters: Parameters) -> RequestTask {
        .plain
    }
    @available(
        *,
        unavailable,
        message: "Write \".plain\", and send the target with \"client.download(Shop.film, to: .file(url))\"."
    )
    public static func downloadDestination(_ destination: DownloadDestination) -> RequestTask { .plain }
    @available(
        *,
        unavailable,
        message:
            "Write \".parameters([\"page\": 1])\", and send the target with \"client.download(Shop.film, to: .file(url))\"."
    )
    public static func downloadParameters(
        parameters: Parameters,
        encoding: Any = (),
        destination: DownloadDestination
    ) -> RequestTask { .plain }
    @available(*, unavailable, message: "Write brackets: \".multipart([.text(\"Ada\", name: \"name\")])\".")
    public static func multipart(_ first: MultipartForm.Part, _ others: MultipartForm.Part...) -> RequestTask { .plain }
}
