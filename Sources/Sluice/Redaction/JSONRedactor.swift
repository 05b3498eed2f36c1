import SluiceHTTP

/// Copies a JSON text without the values of secret members.
struct JSONRedactor {
    private let redactor: DocumentRedactor
    private let depth: Int
    private let document: JSONDocument
    private var copied = 0
    private var output: [UInt8] = []

    /// Removes the secrets from JSON and copies the rest unchanged; nil if the text is not JSON.
    ///
    /// JSON Lines and JSON text sequences (RFC 7464) are accepted as well.
    ///
    /// - Parameters:
    ///   - text: The text.
    ///   - redactor: The redactor of the strings in it, whose rules apply.
    ///   - depth: The number of documents that contain the text.
    /// - Returns: The redacted text.
    static func redacted(_ text: String, _ redactor: DocumentRedactor, depth: Int) -> String? {
        if let document = try? JSONDocument(text) { return redacted(document, redactor, depth) }
        let lines = text.utf8.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        guard lines.count > 1 else { return nil }
        var output = ""
        for (index, line) in lines.enumerated() {
            if index > 0 { output += "\n" }
            // The record separator that starts each text of a sequence.
            let value = line.drop { $0 == 0x1E }
            output += Substring(line[..<value.startIndex])
            if value.allSatisfy({ $0 <= 0x20 }) {
                output += Substring(value)
            } else if let document = try? JSONDocument(String(Substring(value))) {
                output += redacted(document, redactor, depth)
            } else {
                return nil
            }
        }
        return output
    }

    private static func redacted(_ document: JSONDocument, _ redactor: DocumentRedactor, _ depth: Int) -> String {
        var copy = JSONRedactor(redactor: redactor, depth: depth, document: document)
        copy.value(document.root)
        let end = document.storage.count - JSONParser.padding
        return String(decoding: copy.output + document.storage[copy.copied..<end], as: UTF8.self)
    }

    private init(redactor: DocumentRedactor, depth: Int, document: JSONDocument) {
        self.redactor = redactor
        self.depth = depth
        self.document = document
    }

    private var rules: SecretRules { redactor.rules }

    /// Searches a value. The parser's limit on depth bounds the recursion.
    private mutating func value(_ node: JSONDocument.Node, isHeaders: Bool = false, isInArray: Bool = false) {
        switch document.kind(of: node) {
        case .null, .true, .false, .number: break
        case .string: string(node)
        case .array: array(node, isHeaders: isHeaders, isInArray: isInArray)
        case .object: object(node)
        }
    }

    /// Redacts a string, which may contain a URL, a document, or a text with a secret in it.
    private mutating func string(_ node: JSONDocument.Node) {
        let text = document.string(of: node)
        let redacted = redactor.text(text, depth: depth + 1)
        if !redacted.hasSameBytes(as: text) { replace(node, with: JSON.string(redacted).formatted(.compact)) }
    }

    /// Hides a value, unless it is empty, null or a boolean, which contain no secret.
    private mutating func hide(_ node: JSONDocument.Node) {
        switch document.kind(of: node) {
        case .null, .true, .false: return
        case .string where document.string(of: node).isEmpty: return
        case .number where redactor.keepsStructure: replace(node, with: "0")
        case .array where redactor.keepsStructure:
            for element in document.elements(of: node) { hide(element) }
        case .object where redactor.keepsStructure:
            for (_, member) in document.members(of: node) { hide(member) }
        default: replace(node, with: "\"\(SecretRules.mark)\"")
        }
    }

    private mutating func replace(_ node: JSONDocument.Node, with text: String) {
        let entry = document.tape[node.index]
        output += document.storage[copied..<Int(entry.start)]
        output += text.utf8
        copied = Int(entry.end)
    }
}

// MARK: - Objects

extension JSONRedactor {
    private mutating func object(_ node: JSONDocument.Node) {
        let members = document.members(of: node).map {
            (key: $0.key, name: document.string(of: $0.key), value: $0.value)
        }
        let names = members.map(\.name)
        // `{"name": "password", "value": …}`
        let isNamed = members.contains { MemberRoles.names($0.name) && isSecretName($0.value, isWord: true) }
        // `{"type": "password", "value": …}`, `{"name": "API key", "value": …}`
        let isTyped = members.contains {
            MemberRoles.names($0.name) || MemberRoles.describes($0.name) ? isSecretName($0.value) : false
        }
        // A private key (RFC 7517 §4), whose members have short names.
        let isKey = names.contains("kty")
        // `{"columns": ["user", "password"], "rows": …}`
        let isTable = members.contains { MemberRoles.namesColumns($0.name) && hasSecretName($0.value) }
        let variables = names.contains("variables") ? secretVariables(members.map { ($0.name, $0.value) }) : []
        for (key, name, value) in members {
            string(key)
            let isHidden =
                rules.memberNames.contains(name) || isKey && MemberRoles.isKeyMaterial(name)
                || isNamed && !MemberRoles.names(name) && !MemberRoles.describes(name)
                || isTyped && MemberRoles.holdsValue(name)
                || isTable && document.kind(of: value) == .array && !MemberRoles.namesColumns(name)
            if isHidden {
                hide(value)
            } else if name == "variables", !variables.isEmpty {
                self.variables(value, variables)
            } else {
                self.value(value, isHeaders: name.lowercased().hasSuffix("headers"))
            }
        }
    }

    private func isSecretName(_ node: JSONDocument.Node, isWord: Bool = false) -> Bool {
        document.kind(of: node) == .string && redactor.isSecretName(document.string(of: node), isWord: isWord)
    }

    private func hasSecretName(_ node: JSONDocument.Node) -> Bool {
        document.elements(of: node).contains { isSecretName($0) }
    }

    /// The number of variables of a document whose arguments are determined. All further ones are hidden.
    private static let inspectedVariables = 1000

    /// Returns the variables that a GraphQL document passes to secret arguments, as `p` in `login(password: $p)`.
    private func secretVariables(_ members: [(name: String, value: JSONDocument.Node)]) -> Set<String> {
        var variables: Set<String> = []
        for (_, value) in members where document.kind(of: value) == .string {
            let text = Array(document.string(of: value).utf8)
            let isName = { (byte: UInt8) in
                (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20) || byte == UInt8(ascii: "_")
                    || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
            }
            var inspected = 0
            for dollar in text.indices where text[dollar] == UInt8(ascii: "$") {
                let variable = text[(dollar + 1)...].prefix(256).prefix(while: isName)
                inspected += 1
                if inspected > Self.inspectedVariables {
                    variables.insert(String(decoding: variable, as: UTF8.self))
                    continue
                }
                var before = text[max(0, dollar - 320)..<dollar]
                // The variable may be in a list after other values.
                var (isFirst, isList) = (true, false)
                while true {
                    let count = before.reversed().prefix { $0 <= 0x20 || ",[".utf8.contains($0) }.count
                    let separators = before.suffix(count)
                    isList = separators.contains(UInt8(ascii: "["))
                    before = before.dropLast(count)
                    var earlier = before.dropLast(before.reversed().prefix(while: isName).count)
                    if earlier.last == UInt8(ascii: "$") { earlier = earlier.dropLast() }
                    if before.last == UInt8(ascii: "\"") {
                        earlier = before.dropLast()
                        earlier = earlier.prefix(upTo: earlier.lastIndex(of: UInt8(ascii: "\"")) ?? earlier.startIndex)
                    }
                    guard earlier.count < before.count, before.last != UInt8(ascii: ":") else { break }
                    before = earlier
                    isFirst = false
                }
                guard isFirst || isList else { continue }
                guard before.last == UInt8(ascii: ":") else { continue }
                let rest = before.dropLast()
                let argument = rest.dropLast(rest.reversed().prefix { $0 <= 0x20 }.count)
                let name = argument.suffix(argument.reversed().prefix(while: isName).count)
                guard rules.memberNames.contains(name) else { continue }
                variables.insert(String(decoding: variable, as: UTF8.self))
            }
        }
        return variables
    }

    private mutating func variables(_ node: JSONDocument.Node, _ secret: Set<String>) {
        guard document.kind(of: node) == .object else { return value(node) }
        for (key, member) in document.members(of: node) {
            let name = document.string(of: key)
            if secret.contains(name) || rules.memberNames.contains(name) { hide(member) } else { value(member) }
        }
    }
}

// MARK: - Arrays

extension JSONRedactor {
    private mutating func array(_ node: JSONDocument.Node, isHeaders: Bool, isInArray: Bool) {
        let elements = Array(document.elements(of: node))
        // `["Authorization", "Bearer …"]` in a list of such pairs, or a flat list of names and values.
        let isPair = isInArray && elements.count == 2 || isHeaders && elements.count % 2 == 0
        if isPair, stride(from: 0, to: elements.count, by: 2).contains(where: { isSecretName(elements[$0]) }) {
            for index in stride(from: 0, to: elements.count, by: 2) {
                value(elements[index])
                if isSecretName(elements[index]) { hide(elements[index + 1]) } else { value(elements[index + 1]) }
            }
            return
        }
        let columns = secretColumns(elements)
        for (row, element) in elements.enumerated() {
            guard row > 0, !columns.isEmpty, document.kind(of: element) == .array else {
                value(element, isHeaders: isHeaders, isInArray: true)
                continue
            }
            for (column, cell) in document.elements(of: element).enumerated() {
                if columns.contains(column) { hide(cell) } else { value(cell) }
            }
        }
    }

    /// Returns the indices of the secret names in the first row of a table of at least three columns or rows.
    private func secretColumns(_ rows: [JSONDocument.Node]) -> Set<Int> {
        guard rows.count > 1, let first = rows.first, document.kind(of: first) == .array else { return [] }
        let names = Array(document.elements(of: first))
        guard names.count > 1, names.allSatisfy({ document.kind(of: $0) == .string }) else { return [] }
        return Set(names.indices.filter { isSecretName(names[$0]) })
    }
}

/// The roles of members that stand beside each other in an object, of attributes and of elements.
enum MemberRoles {
    /// True for a member whose value names another member, as in `{"name": "password", "value": …}`.
    static func names(_ name: String) -> Bool {
        switch name.asWord {
        case "name", "key", "k", "n", "field", "fieldname", "header", "headername", "param", "parameter", "property",
            "attribute", "attr", "variable", "var":
            true
        default: false
        }
    }

    /// True for a member that describes another and holds no value.
    static func describes(_ name: String) -> Bool {
        switch name.asWord {
        case "type", "kind", "id", "label", "title", "description", "format", "in", "required", "placeholder", "domain",
            "path", "expires", "httponly", "secure", "samesite":
            true
        default: false
        }
    }

    /// True for a member that holds the value of one that is named beside it.
    static func holdsValue(_ name: String) -> Bool {
        switch name.asWord {
        case "value", "values", "val", "v", "content", "data", "default", "secret": true
        default: false
        }
    }

    /// True for a member that lists the names of columns.
    static func namesColumns(_ name: String) -> Bool {
        switch name.asWord {
        case "columns", "cols", "fields", "header", "headers", "names", "keys": true
        default: false
        }
    }

    /// True for a private parameter of a JSON Web Key (RFC 7518 §6.3.2, §6.4).
    static func isKeyMaterial(_ name: String) -> Bool {
        switch name {
        case "d", "p", "q", "dp", "dq", "qi", "oth", "k": true
        default: false
        }
    }
}

// MARK: - Comparisons

// Swift compares texts in their normalized form. This takes quadratic time for many combining characters in a row.
extension String {
    /// The text in lowercase, for a comparison with words of at most 16 bytes; empty for a longer text.
    var asWord: String { utf8.count <= 16 ? lowercased() : "" }
}
