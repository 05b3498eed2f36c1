/// A message that cannot be converted, because the other library does not accept one of its parts.
public enum ConversionError: Error, Hashable, Sendable {
    /// The method is not a token (RFC 9110 §9.1).
    case invalidMethod(String)
    /// The name of a field is not a token (RFC 9110 §5.1).
    case invalidFieldName(String)
    /// The value of a field with this name has white space around it, a control character, or bytes that are not UTF-8 (RFC 9110 §5.5).
    case invalidFieldValue(name: String)
    /// There are more fields than this number, which `HTTPFields` accepts.
    case tooManyFields(limit: Int)
    /// The request lacks this pseudo-header field, such as `:path` (RFC 9113 §8.3.1).
    case missingPseudoHeader(String)
    /// This pseudo-header field has a value that Sluice cannot send: a scheme other than `http` and `https`, an empty authority, or a path
    /// without a slash at its start.
    case invalidPseudoHeader(String)
    /// The request has a protocol for extended CONNECT (RFC 8441).
    case extendedConnect
    /// The status has not three digits (RFC 9110 §15).
    case invalidStatus(Int)
}

extension ConversionError: CustomStringConvertible {
    /// A sentence without values, which may be secrets.
    public var description: String {
        switch self {
        case .invalidMethod: "The method is not a token."
        case .invalidFieldName: "The name of a header field is not a token."
        case .invalidFieldValue(let name): "The value of the header field “\(name)” is not valid."
        case .tooManyFields(let limit): "There are more than \(limit) header fields."
        case .missingPseudoHeader(let name): "The request has no \(name)."
        case .invalidPseudoHeader(let name): "The \(name) of the request is not valid."
        case .extendedConnect: "A request with extended CONNECT is not supported."
        case .invalidStatus(let code): "The status \(code) has not three digits."
        }
    }
}
