import SluiceHTTP

/// What may separate the parts of a form (RFC 2046 §5.1.1).
enum MultipartBoundary {
    /// The longest one that is allowed, in characters.
    private static let lengthLimit = 70

    /// Makes a boundary of 128 random bits, which no content will hold by chance.
    static func random(using generator: inout some RandomNumberGenerator) -> String {
        let digits = (0..<2).map { _ in
            let word = String(generator.next(), radix: 16)
            return String(repeating: "0", count: 16 - word.count) + word
        }
        return "sluice-\(digits.joined())"
    }

    /// Whether the standard allows the boundary.
    static func isValid(_ boundary: String) -> Bool {
        let characters = boundary.utf8
        return (1...lengthLimit).contains(characters.count) && characters.allSatisfy(isAllowed)
            && characters.last != UInt8(ascii: " ")
    }

    /// Refuses a boundary that is not valid, or at which a reader of one of the forms around could stop.
    ///
    /// A line that begins with a boundary is taken for it, whatever follows (RFC 2046 §5.1.2).
    ///
    /// - Parameters:
    ///   - boundary: Of the form.
    ///   - outer: Of the forms around it.
    /// - Throws: A ``SluiceError`` of code ``SluiceError/Code/encodingFailed``.
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
                "A form within a form has the other's boundary, or one that begins alike; give it one of its own.",
                step: .building
            )
        }
    }

    /// The boundary as a parameter of a media type has it, in quotes where it is no token (RFC 9110 §5.6.6).
    static func parameterValue(_ boundary: String) -> String {
        if !boundary.isEmpty, boundary.utf8.allSatisfy(\.isTokenCharacter) { return boundary }
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
