/// Brings the values of a request header field that `Vary` names into one form for all that mean the same (RFC 9111 §4.1).
///
/// A form too many costs a request; one too few would answer with what another request was given. So only what the field's own
/// definition has no meaning for is evened out.
enum SelectingField {
    /// The lines of a field as one.
    ///
    /// - Parameters:
    ///   - lines: The values as they are.
    ///   - name: The field's name in small letters.
    /// - Returns: For most fields, the lines joined by commas, without the white space around them.
    static func normalized(_ lines: [FieldValue], of name: String) -> [UInt8] {
        switch name {
        case "accept-encoding":
            // The codings' order says nothing (RFC 9110 §12.5.3).
            let members = members(of: lines).map(lowercased)
            return joined(members.sorted { $0.lexicographicallyPrecedes($1) })
        case "accept-language", "accept-charset":
            // Many servers take the order of languages for that of preference (RFC 9110 §12.5.4).
            return joined(members(of: lines).map(lowercased))
        case "accept":
            // The values of a media type's parameters may be told apart by case (RFC 9110 §8.3.1).
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

    /// The members of a list (RFC 9110 §5.6.1), without the white space outside quoted strings; empty ones left out.
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
