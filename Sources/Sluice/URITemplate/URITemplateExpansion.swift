import SluiceHTTP
import SluiceJSON

/// The value of a variable that is defined (RFC 6570 §2.3).
enum URITemplateValue {
    /// A string, which may be empty.
    case string(String)
    /// The strings of a list, at least one.
    case list([String])
    /// The members of an associative array in order, at least one.
    case associative([(name: String, value: String)])

    /// Returns the values by name, without those that are undefined.
    static func all(of variables: Parameters) throws -> [String: URITemplateValue] {
        var values: [String: URITemplateValue] = [:]
        for name in variables.names {
            if let variable = variables[name] { values[name] = try value(variable, of: name) }
        }
        return values
    }

    /// Returns the value of a variable; nil if it is undefined.
    private static func value(_ variable: any Encodable & Sendable, of name: String) throws -> URITemplateValue? {
        if let text = variable as? String { return .string(text) }
        if let parameters = variable as? Parameters {
            // The object that they encode to has no order.
            var members: [(key: String, value: JSON)] = []
            for member in parameters.names {
                guard let parameter = parameters[member] else { continue }
                let json = try JSON(encoding: parameter)
                members.append((member, json))
            }
            return try associative(members, of: name)
        }
        switch try JSON(encoding: variable) {
        case .array(let elements):
            let items = try elements.compactMap { try text($0, of: name) }
            return items.isEmpty ? nil : .list(items)
        case .object(let members):
            return try associative(members.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }, of: name)
        case let json:
            return try text(json, of: name).map { .string($0) }
        }
    }

    private static func associative(
        _ members: [(key: String, value: JSON)],
        of name: String
    ) throws -> URITemplateValue? {
        var pairs: [(name: String, value: String)] = []
        for (member, value) in members {
            if let item = try text(value, of: name) { pairs.append((member, item)) }
        }
        return pairs.isEmpty ? nil : .associative(pairs)
    }

    /// Returns a string, a number or a boolean as text; nil for null.
    ///
    /// - Throws: ``SluiceError/Code/encodingFailed`` for an array or an object.
    private static func text(_ json: JSON, of name: String) throws -> String? {
        switch json {
        case .null: return nil
        case .string(let text): return text
        case .bool, .number: return "\(json)"
        case .array, .object:
            let variable = "The variable “\(name.printable)” of a URI template"
            let reason = "\(variable) has an element that is itself a list or a dictionary."
            throw SluiceError(.encodingFailed, reason, step: .building)
        }
    }
}

/// The expansion of a template in progress (RFC 6570 §3 and appendix A).
struct URITemplateExpansion {
    private let template: String
    private let values: [String: URITemplateValue]
    private var output: [UInt8] = []

    init(template: String, values: [String: URITemplateValue]) {
        self.template = template
        self.values = values
        output.reserveCapacity(template.utf8.count &+ 32)
    }

    var text: String { String(decoding: output, as: UTF8.self) }

    mutating func append(_ part: URITemplatePart) throws(URITemplateFailure) {
        switch part {
        case .literal(let bytes):
            output += bytes
        case .expression(let kind, let variables):
            var isFirst = true
            for variable in variables { try append(variable, kind, &isFirst) }
        }
    }

    private mutating func append(
        _ variable: URITemplateVariable,
        _ kind: URITemplateOperator,
        _ isFirst: inout Bool
    ) throws(URITemplateFailure) {
        guard let value = values[variable.name] else { return }
        switch value {
        case .string(let text):
            begin(kind, &isFirst)
            appendName(variable, kind, isEmpty: text.isEmpty)
            append(text, kind, prefix: variable.prefix)
        case .list(let items):
            try refusePrefix(of: variable, "a list")
            if variable.isExploded {
                for item in items {
                    begin(kind, &isFirst)
                    appendName(variable, kind, isEmpty: item.isEmpty)
                    append(item, kind)
                }
            } else {
                begin(kind, &isFirst)
                appendName(variable, kind, isEmpty: false)
                appendJoined(items, kind)
            }
        case .associative(let pairs):
            try refusePrefix(of: variable, "an associative array")
            if variable.isExploded {
                for pair in pairs {
                    begin(kind, &isFirst)
                    append(pair.name, kind)
                    if !kind.isNamed || kind.marksEmptyValues || !pair.value.isEmpty {
                        output.append(UInt8(ascii: "="))
                    }
                    append(pair.value, kind)
                }
            } else {
                begin(kind, &isFirst)
                appendName(variable, kind, isEmpty: false)
                appendJoined(pairs.flatMap { [$0.name, $0.value] }, kind)
            }
        }
    }

    private mutating func begin(_ kind: URITemplateOperator, _ isFirst: inout Bool) {
        if !isFirst {
            output.append(kind.separator)
        } else if let first = kind.first {
            output.append(first)
        }
        isFirst = false
    }

    private mutating func appendName(_ variable: URITemplateVariable, _ kind: URITemplateOperator, isEmpty: Bool) {
        guard kind.isNamed else { return }
        output += variable.name.utf8
        if !isEmpty || kind.marksEmptyValues { output.append(UInt8(ascii: "=")) }
    }

    private mutating func appendJoined(_ texts: [String], _ kind: URITemplateOperator) {
        for (index, text) in texts.enumerated() {
            if index > 0 { output.append(UInt8(ascii: ",")) }
            append(text, kind)
        }
    }

    private mutating func append(_ text: String, _ kind: URITemplateOperator, prefix: Int? = nil) {
        let bytes = Array(text.utf8)
        let end = prefix.map { PercentEncoding.end(ofFirst: $0, in: bytes, countsTriplets: kind.keepsReserved) }
        PercentEncoding.append(bytes[..<(end ?? bytes.count)], to: &output, keepsReserved: kind.keepsReserved)
    }

    private func refusePrefix(of variable: URITemplateVariable, _ kind: String) throws(URITemplateFailure) {
        guard variable.prefix != nil else { return }
        throw URITemplateFailure(
            template,
            atByte: variable.offset,
            "the variable “\(variable.name)” has a prefix modifier, which is not allowed for \(kind)"
        )
    }
}
