import SluiceHTTP

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A body of several parts: fields and files of a form, most often (RFC 7578, RFC 2046 §5.1).
///
/// ```swift
/// let form: MultipartForm = [.text("Ada", name: "user"), .file(archive, name: "archive")]
/// let answer = try await shop.string.post("users").multipart(form).sender().value
/// ```
///
/// It is a value that reads nothing before it is sent. Files and streams of any size go out in pieces of 256 KiB, one
/// file open at a time; short parts travel together in one piece.
///
/// Names and file names are written as browsers write them (WHATWG HTML, “multipart/form-data encoding algorithm”): in
/// UTF-8, with `"`, CR and LF as `%22`, `%0D` and `%0A`, and each line break in a name made CRLF before. Contents are
/// sent as they are.
public struct MultipartForm: Sendable {
    /// What the parts are to each other: the type behind `multipart/`.
    public enum Subtype: String, Sendable, Hashable {
        /// The fields of a form; each needs a name (RFC 7578).
        case formData = "form-data"
        /// Independent parts in their order (RFC 2046 §5.1.3).
        case mixed
        /// Parts of one whole, whose root is the first (RFC 2387).
        case related
    }

    /// Forms within forms, the outermost included; one that holds more is refused when it is sent.
    static let depthLimit = 32

    /// What the parts are to each other.
    public let subtype: Subtype
    /// What separates the parts, without its two leading hyphens.
    public let boundary: String
    /// The parts in the order in which they are sent.
    public private(set) var parts: [Part] = []
    /// How many forms lie within each other here.
    private(set) var depth = 1

    /// Makes a form without parts, whose boundary is random.
    ///
    /// - Parameter subtype: What the parts are to each other.
    public init(_ subtype: Subtype = .formData) {
        var generator = SystemRandomNumberGenerator()
        self.init(subtype, using: &generator)
    }

    /// Makes a form without parts, whose boundary is made of 128 random bits.
    ///
    /// - Parameters:
    ///   - subtype: What the parts are to each other.
    ///   - generator: Gives the bits; with a seeded one the body is the same each time.
    public init(_ subtype: Subtype = .formData, using generator: inout some RandomNumberGenerator) {
        self.init(subtype, boundary: MultipartBoundary.random(using: &generator))
    }

    /// Makes a form without parts, whose boundary is given.
    ///
    /// - Parameters:
    ///   - subtype: What the parts are to each other.
    ///   - boundary: 1 to 70 letters, digits, spaces and `'()+_,-./:=?`, of which the last is no space (RFC 2046
    ///     §5.1.1); ``body()`` refuses another. It must not occur in a part, at the start of a line and behind two
    ///     hyphens.
    public init(_ subtype: Subtype = .formData, boundary: String) {
        self.subtype = subtype
        self.boundary = boundary
    }

    /// Adds a part behind the others.
    ///
    /// - Parameter part: What to add.
    public mutating func append(_ part: Part) {
        var part = part
        if case .form(let form) = part.content {
            // Kept out, lest even letting go of so deep a form took more stack than there is.
            if form.depth < Self.depthLimit { depth = max(depth, form.depth + 1) } else { part.content = .tooDeep }
        }
        parts.append(part)
    }

    /// A copy with more parts behind the others.
    ///
    /// - Parameter parts: What to add.
    /// - Returns: A form with the same subtype and boundary.
    public func adding(_ parts: Part...) -> MultipartForm {
        var form = self
        for part in parts { form.append(part) }
        return form
    }

    /// The `Content-Type` of the body, `multipart/form-data; boundary=…`; a related form's names the type of its root
    /// too (RFC 2387 §3.1).
    public var contentType: String { contentType(as: subtype) }

    func contentType(as subtype: Subtype) -> String {
        let type = subtype == .related ? parts.first?.mediaType.map { "; type=\"\($0)\"" } ?? "" : ""
        return "multipart/\(subtype.rawValue)\(type); boundary=\(MultipartBoundary.parameterValue(boundary))"
    }

    /// Makes the body, which reads files and streams when it is sent.
    ///
    /// Its length is known beforehand unless there is a stream without one; those of files are asked for before a byte
    /// is sent, when a file that is missing or cannot be read fails the request with
    /// ``SluiceError/Code/bodyUnavailable``. A stream that gives more or fewer bytes than announced, and a file whose
    /// length changes, fail it with ``SluiceError/Code/bodyLengthMismatch``. It can be sent again unless there is a
    /// stream that cannot.
    ///
    /// A form without parts is its last boundary alone, as browsers write it.
    ///
    /// - Returns: The body.
    /// - Throws: A ``SluiceError``, ``SluiceError/Code/invalidHeader`` for a name or header that cannot stand in a
    ///   part's head, ``SluiceError/Code/encodingFailed`` for a boundary that is not valid or is also that of a form
    ///   within, a part of form-data without a name, forms more than 32 deep, or a negative length.
    public func body() throws(SluiceError) -> HTTPBody {
        try MultipartLayout(self).body()
    }
}

extension MultipartForm: ExpressibleByArrayLiteral {
    /// Makes form-data of parts, with a random boundary.
    public init(arrayLiteral parts: Part...) {
        self.init()
        for part in parts { append(part) }
    }
}
