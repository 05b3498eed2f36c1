import SluiceHTTP

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension CassetteRedaction {
    /// A body without its secrets; the mark for one that ought to be looked through and cannot be.
    ///
    /// - Parameters:
    ///   - bytes: The body.
    ///   - headers: The headers that go with it.
    ///   - isDecoded: Whether it is decompressed, whatever the headers say.
    ///   - depth: In how many forms it stands.
    /// - Returns: The body; as it was where there is nothing secret in it.
    func body(_ bytes: Data, _ headers: HTTPHeaders, isDecoded: Bool, depth: Int = 0) -> Data {
        guard hidesValues, !bytes.isEmpty else { return bytes }
        if !isDecoded, headers.hasContentCoding { return Data(Self.mark.utf8) }
        let type = headers[.contentType].flatMap(ContentType.init)
        if type?.type == "multipart", let boundary = type?["boundary"] {
            return multipart(bytes, boundary: boundary, depth: depth) ?? Data(Self.mark.utf8)
        }
        if type?.essence == "application/x-www-form-urlencoded" {
            guard let text = String(validating: bytes, as: UTF8.self) else { return Data(Self.mark.utf8) }
            return Data(form(text[...]).utf8)
        }
        let text = bytes.withoutByteOrderMark
        // Many a server says text/plain of its JSON; a text that is some is redacted all the same.
        guard let first = text.first(where: { $0 > 0x20 }),
            first == UInt8(ascii: "{") || first == UInt8(ascii: "[") || headers.isJSON || headers.isJSONLines
        else { return bytes }
        if let node = try? JSONNode(parsing: text) {
            let redacted = json(node, isSecret: false)
            return redacted == node ? bytes : redacted.compact
        }
        return lines(text) ?? Data(Self.mark.utf8)
    }

    /// JSON Lines, or a sequence of JSON texts (RFC 7464), without its secrets; nil where a line is no JSON.
    private func lines(_ text: Data) -> Data? {
        let lines = Array(text).split(separator: 0x0A, omittingEmptySubsequences: false)
        if lines.count < 2 { return nil }
        var result: [[UInt8]] = []
        for line in lines {
            // The sign before each text of a sequence.
            let sign = line.prefix { $0 == 0x1E }
            let rest = line[sign.endIndex...]
            if rest.allSatisfy({ $0 <= 0x20 }) {
                result.append(Array(line))
                continue
            }
            guard let node = try? JSONNode(parsing: Data(rest)) else { return nil }
            let redacted = json(node, isSecret: false)
            result.append(redacted == node ? Array(line) : Array(sign) + redacted.compact)
        }
        return Data(result.joined(separator: [0x0A]))
    }

    private func json(_ node: JSONNode, isSecret: Bool) -> JSONNode {
        switch node {
        case .null, .bool: node
        case .number: isSecret ? .number("0") : node
        case .string(let value): isSecret && !value.isEmpty ? .string(Self.mark) : .string(text(value))
        case .array(let elements): .array(elements.map { json($0, isSecret: isSecret) })
        case .object(let members):
            .object(
                members.map { member in
                    let hides = isSecret || self.isSecret(member: member.name)
                    return JSONNode.Member(name: member.name, value: json(member.value, isSecret: hides))
                }
            )
        }
    }
}

extension HTTPHeaders {
    /// Whether a body that goes with them is compressed or otherwise encoded.
    fileprivate var hasContentCoding: Bool {
        values(for: .contentEncoding).joined(separator: ",").split(separator: ",").contains { coding in
            let name = coding.filter { !$0.isWhitespace }.lowercased()
            return !name.isEmpty && name != "identity"
        }
    }

    /// Whether they are those of one JSON text after the other.
    fileprivate var isJSONLines: Bool {
        switch self[.contentType].flatMap(ContentType.init)?.subtype {
        case "jsonl", "x-jsonl", "ndjson", "x-ndjson", "jsonlines", "x-jsonlines", "json-seq": true
        default: false
        }
    }
}

extension Data {
    /// The text behind the mark of its byte order, with which some programs begin even UTF-8.
    var withoutByteOrderMark: Data {
        let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
        return starts(with: mark) ? Data(dropFirst(mark.count)) : self
    }
}
