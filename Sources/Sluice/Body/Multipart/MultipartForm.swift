import SluiceHTTP

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A multipart body, most often the fields and files of a form (RFC 7578, RFC 2046 §5.1).
///
/// ```swift
/// let form: MultipartForm = [.text("Ada", name: "user"), .file(archive, name: "archive")]
/// let answer = try await shop.string.post("users").multipart(form).sender().value
/// ```
///
/// A form is a value. It reads nothing before it is sent. Files and streams of any size are sent in pieces of 256 KiB
/// with one file open at a time. Short parts are combined into one piece.
///
/// Names and file names are written as browsers write them (WHATWG HTML, “multipart/form-data encoding algorithm”): in
/// UTF-8, with `"`, CR and LF as `%22`, `%0D` and `%0A`. Line breaks in names are first normalized to CRLF. Contents
/// are sent unchanged.
public struct MultipartForm: Sendable {
    /// The relation between the parts: the subtype after `multipart/`.
    public enum Subtype: String, Sendable, Hashable {
        /// The fields of a form; each needs a name (RFC 7578).
        case formData = "form-data"
        /// Independent parts, in order (RFC 2046 §5.1.3).
        case mixed
        /// Parts of a compound object, whose root is the first part (RFC 2387).
        case related
    }

    /// The maximum nesting depth, including the outermost form. A deeper form is rejected when it is sent.
    static let depthLimit = 32

    /// The relation between the parts.
    public let subtype: Subtype
    /// The boundary between the parts, without its two leading hyphens.
    public let boundary: String
    /// The parts in the order in which they are sent.
    public private(set) var parts: [Part] = []
    /// The nesting depth of this form, including itself.
    private(set) var depth = 1

    /// Creates an empty form with a random boundary.
    ///
    /// - Parameter subtype: The relation between the parts.
    public init(_ subtype: Subtype = .formData) {
        var generator = SystemRandomNumberGenerator()
        self.init(subtype, using: &generator)
    }

    /// Creates an empty form with a boundary of 128 random bits.
    ///
    /// - Parameters:
    ///   - subtype: The relation between the parts.
    ///   - generator: The source of the random bits. A seeded generator makes the body reproducible.
    public init(_ subtype: Subtype = .formData, using generator: inout some RandomNumberGenerator) {
        self.init(subtype, boundary: MultipartBoundary.random(using: &generator))
    }

    /// Creates an empty form with a given boundary.
    ///
    /// - Parameters:
    ///   - subtype: The relation between the parts.
    ///   - boundary: 1 to 70 letters, digits, spaces and `'()+_,-./:=?`, not ending in a space (RFC 2046 §5.1.1);
    ///     ``body()`` throws for any other. No line of a part may begin with two hyphens and the boundary.
    public init(_ subtype: Subtype = .formData, boundary: String) {
        self.subtype = subtype
        self.boundary = boundary
    }

    /// Appends a part.
    ///
    /// - Parameter part: The part to append.
    public mutating func append(_ part: Part) {
        var part = part
        if case .form(let form) = part.content {
            // Drop a form that is nested too deeply, because even deallocating it could overflow the stack.
            if form.depth < Self.depthLimit { depth = max(depth, form.depth + 1) } else { part.content = .tooDeep }
        }
        parts.append(part)
    }

    /// Returns a copy with more parts appended.
    ///
    /// - Parameter parts: The parts to append.
    /// - Returns: A form with the same subtype and boundary.
    public func adding(_ parts: Part...) -> MultipartForm {
        var form = self
        for part in parts { form.append(part) }
        return form
    }

    /// The `Content-Type` of the body: `multipart/form-data; boundary=…`. For a related form it includes the media type
    /// of the root part (RFC 2387 §3.1).
    public var contentType: String { contentType(as: subtype) }

    func contentType(as subtype: Subtype) -> String {
        let type = subtype == .related ? parts.first?.mediaType.map { "; type=\"\($0)\"" } ?? "" : ""
        return "multipart/\(subtype.rawValue)\(type); boundary=\(MultipartBoundary.parameterValue(boundary))"
    }

    /// Creates the body, which reads files and streams when it is sent.
    ///
    /// The length of the body is known in advance unless a stream has no length. The sizes of files are determined
    /// before the first byte is sent. A file that is missing or unreadable fails the request with
    /// ``SluiceError/Code/bodyUnavailable``. A stream that provides more or fewer bytes than announced, or a file whose
    /// size changes, fails it with ``SluiceError/Code/bodyLengthMismatch``. The body is replayable unless it contains a
    /// stream that is not.
    ///
    /// An empty form consists of its closing boundary only, as browsers write it.
    ///
    /// - Returns: The body.
    /// - Throws: A ``SluiceError``: ``SluiceError/Code/invalidHeader`` for a name or header that is invalid in a part's
    ///   head; ``SluiceError/Code/encodingFailed`` for a boundary that is invalid or conflicts with that of a nested
    ///   form, a part of form-data without a name, a nesting depth over 32, or a negative length.
    public func body() throws(SluiceError) -> HTTPBody {
        try MultipartLayout(self).body()
    }
}

extension MultipartForm: ExpressibleByArrayLiteral {
    /// Creates form-data from parts, with a random boundary.
    public init(arrayLiteral parts: Part...) {
        self.init()
        for part in parts { append(part) }
    }
}
