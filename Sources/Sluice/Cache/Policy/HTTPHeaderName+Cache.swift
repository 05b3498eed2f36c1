import SluiceHTTP

extension HTTPHeaderName {
    static let age: Self = "Age"
    static let cacheControl: Self = "Cache-Control"
    static let cacheStatus: Self = "Cache-Status"
    static let contentLanguage: Self = "Content-Language"
    static let contentLocation: Self = "Content-Location"
    static let expires: Self = "Expires"
    static let ifMatch: Self = "If-Match"
    static let ifModifiedSince: Self = "If-Modified-Since"
    static let ifNoneMatch: Self = "If-None-Match"
    static let ifUnmodifiedSince: Self = "If-Unmodified-Since"
    static let pragma: Self = "Pragma"
    static let vary: Self = "Vary"

    /// The fields that describe content. Responses without content omit them.
    static let contentFields: [Self] = [
        .contentEncoding, .contentLanguage, .contentLength, .contentRange, .contentType,
    ]
}
