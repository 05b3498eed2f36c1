import SluiceHTTP

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension CassetteRedaction {
    /// Returns a body without its secrets, or the ``mark`` for a body that should be searched but cannot be.
    ///
    /// - Parameters:
    ///   - bytes: The body.
    ///   - headers: The header fields that describe the body.
    ///   - isDecoded: True if the content coding has been removed, whatever `headers` say.
    ///   - depth: The number of multipart forms that enclose the body.
    /// - Returns: The redacted body, or the same bytes if the body contains no secrets.
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
        // Some servers send JSON as text/plain, so a body that looks like JSON is redacted whatever its content type.
        guard let first = text.first(where: { $0 > 0x20 }),
            first == UInt8(ascii: "{") || first == UInt8(ascii: "[") || headers.isJSON || headers.isJSONLines
        else { return bytes }
        if let node = try? JSONNode(parsing: text) {
            let redacted = json(node, isSecret: false)
            return redacted == node ? bytes : redacted.compact
        }
        return lines(text) ?? Data(Self.mark.utf8)
    }

    /// Returns JSON Lines, or a JSON text sequence (RFC 7464), without secrets. Returns nil if a line is not JSON.
    private func lines(_ text: Data) -> Data? {
        let lines = Array(text).split(separator: 0x0A, omittingEmptySubsequences: false)
        if lines.count < 2 { return nil }
        var result: [[UInt8]] = []
        for line in lines {
            // The record separator that starts each text of a JSON text sequence.
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
    /// True if the body has a content coding other than `identity`.
    fileprivate var hasContentCoding: Bool {
        values(for: .contentEncoding).joined(separator: ",").split(separator: ",").contains { coding in
            let name = coding.filter { !$0.isWhitespace }.lowercased()
            return !name.isEmpty && name != "identity"
        }
    }

    /// True if the content type is JSON Lines or a JSON text sequence.
    fileprivate var isJSONLines: Bool {
        switch self[.contentType].flatMap(ContentType.init)?.subtype {
        case "jsonl", "x-jsonl", "ndjson", "x-ndjson", "jsonlines", "x-jsonlines", "json-seq": true
        default: false
        }
    }
}

extension Data {
    /// The bytes without the UTF-8 byte order mark, which some programs write.
    var withoutByteOrderMark: Data {
        let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
        return starts(with: mark) ? Data(dropFirst(mark.count)) : self
    }
}
