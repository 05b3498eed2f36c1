import SluiceHTTP

/// The boundary that separates the parts of a form (RFC 2046 §5.1.1).
enum MultipartBoundary {
    /// The maximum length of a boundary, in characters.
    private static let lengthLimit = 70

    /// Creates a boundary from 128 random bits. It is practically impossible for content to contain it by chance.
    static func random(using generator: inout some RandomNumberGenerator) -> String {
        let digits = (0..<2).map { _ in
            let word = String(generator.next(), radix: 16)
            return String(repeating: "0", count: 16 - word.count) + word
        }
        return "sluice-\(digits.joined())"
    }

    /// Returns true if RFC 2046 allows the boundary.
    static func isValid(_ boundary: String) -> Bool {
        let characters = boundary.utf8
        return (1...lengthLimit).contains(characters.count) && characters.allSatisfy(isAllowed)
            && characters.last != UInt8(ascii: " ")
    }

    /// Checks that a boundary is valid and cannot be confused with the boundary of an enclosing form.
    ///
    /// A line that begins with a boundary is a delimiter, whatever follows on the line (RFC 2046 §5.1.2).
    ///
    /// - Parameters:
    ///   - boundary: The boundary of the form.
    ///   - outer: The boundaries of the enclosing forms.
    /// - Throws: A ``SluiceError`` with the code ``SluiceError/Code/encodingFailed``.
    static func check(_ boundary: String, within outer: [String]) throws(SluiceError) {
        guard isValid(boundary) else {
            throw SluiceError(
                .encodingFailed,
                "The boundary of a form is not valid: use 1 to 70 letters, digits or hyphens.",
                step: .building
            )
        }
        if outer.contains(where: { $0.hasPrefix(boundary) || boundary.hasPrefix($0) }) {
            throw SluiceError(
                .encodingFailed,
                "The boundaries of a form and of a nested form are equal, or one begins with the other. Use different boundaries.",
                step: .building
            )
        }
    }

    /// Returns the boundary as a media type parameter value, quoted if it is not a token (RFC 9110 §5.6.6).
    static func parameterValue(_ boundary: String) -> String {
        if boundary.utf8.isToken { return boundary }
        return "\"" + boundary.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"") + "\""
    }

    private static func isAllowed(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default:
            "'()+_,-./:=? ".utf8.contains(byte)
        }
    }
}
