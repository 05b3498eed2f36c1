import HTTPTypes
import Sluice

extension HTTPFields {
    /// The maximum number of fields.
    private static var limit: Int { Int(UInt16.max) }

    /// Converts header fields. Their order and the case of their names stay.
    ///
    /// - Parameter headers: The fields of Sluice. A received value that is not UTF-8 has replacement characters.
    /// - Throws: A ``ConversionError`` for a name or a value that swift-http-types does not accept.
    public init(_ headers: HTTPHeaders) throws(ConversionError) {
        self.init()
        // A larger number ends the process.
        guard headers.count < Self.limit else { throw .tooManyFields(limit: Self.limit - 1) }
        reserveCapacity(headers.count)
        for field in headers {
            guard let name = HTTPField.Name(field.name.rawValue) else { throw .invalidFieldName(field.name.rawValue) }
            // The initializer of a field would replace characters.
            guard HTTPField.isValidValue(field.value) else { throw .invalidFieldValue(name: name.rawName) }
            append(HTTPField(name: name, value: field.value))
        }
    }
}

extension HTTPHeaders {
    /// Converts header fields. Their order and the case of their names stay. The indexing strategy of a field is lost.
    ///
    /// - Parameter fields: The fields of swift-http-types.
    /// - Throws: A ``ConversionError`` for a value that Sluice does not send.
    public init(_ fields: HTTPFields) throws(ConversionError) {
        self.init()
        for field in fields {
            // The text of a value that is not UTF-8 is longer or shorter than its bytes.
            let isText = field.withUnsafeBytesOfValue { String(validating: $0, as: UTF8.self) != nil }
            guard isText, HTTPField.isValidValue(field.value) else {
                throw .invalidFieldValue(name: field.name.rawName)
            }
            append(HTTPHeaderName(field.name.rawName), field.value)
        }
    }
}
