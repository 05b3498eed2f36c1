/// The normalization of request header fields that `Vary` names (RFC 9111 §4.1).
///
/// Too little normalization costs an extra request; too much serves the response to another request. Therefore only
/// differences without a meaning in the definition of the field are removed.
enum SelectingField {
    /// Returns the normalized value of the lines of a field.
    ///
    /// - Parameters:
    ///   - lines: The field values.
    ///   - name: The field name in lowercase.
    /// - Returns: The normalized value. For most fields, these are the trimmed lines joined by commas.
    static func normalized(_ lines: [FieldValue], of name: String) -> [UInt8] {
        switch name {
        case "accept-encoding":
            // The order of the codings has no meaning (RFC 9110 §12.5.3).
            let members = members(of: lines).map(lowercased)
            return joined(members.sorted { $0.lexicographicallyPrecedes($1) })
        case "accept-language", "accept-charset":
            // Many servers treat the order of languages as their preference (RFC 9110 §12.5.4).
            return joined(members(of: lines).map(lowercased))
        case "accept":
            // The values of media type parameters may be case-sensitive (RFC 9110 §8.3.1).
            return joined(
                members(of: lines).map { member in
                    let end = member.firstIndex(of: UInt8(ascii: ";")) ?? member.endIndex
                    return lowercased(Array(member[..<end])) + member[end...]
                }
            )
        default:
            return Array(lines.map { Array($0.bytes[...].trimmingListSpace) }.joined(separator: ", ".utf8))
        }
    }

    private static func joined(_ members: [[UInt8]]) -> [UInt8] {
        Array(members.joined(separator: [UInt8(ascii: ",")]))
    }

    private static func lowercased(_ bytes: [UInt8]) -> [UInt8] {
        bytes.map(\.asciiLowercased)
    }

    /// Returns the non-empty members of a list (RFC 9110 §5.6.1) without white space outside quoted strings.
    private static func members(of lines: [FieldValue]) -> [[UInt8]] {
        var members: [[UInt8]] = []
        for line in lines {
            var member: [UInt8] = []
            var isQuoted = false
            var isEscaped = false
            for byte in line.bytes {
                if isQuoted {
                    member.append(byte)
                    if isEscaped {
                        isEscaped = false
                    } else if byte == UInt8(ascii: "\\") {
                        isEscaped = true
                    } else if byte == UInt8(ascii: "\"") {
                        isQuoted = false
                    }
                } else if byte == UInt8(ascii: ",") {
                    if !member.isEmpty { members.append(member) }
                    member = []
                } else if !byte.isListSpace {
                    member.append(byte)
                    isQuoted = byte == UInt8(ascii: "\"")
                }
            }
            if !member.isEmpty { members.append(member) }
        }
        return members
    }
}
