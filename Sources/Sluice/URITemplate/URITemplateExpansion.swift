/// The expansion of a template in progress (RFC 6570 §3 and appendix A).
struct URITemplateExpansion {
    private let template: String
    private let variables: URITemplate.Variables
    private var output: [UInt8] = []

    init(template: String, variables: URITemplate.Variables) {
        self.template = template
        self.variables = variables
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
        switch variables[variable.name] {
        case .undefined, .list([]), .associative([]):
            return
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
