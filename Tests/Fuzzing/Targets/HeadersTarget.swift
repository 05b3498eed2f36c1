@testable import SluiceHTTP

extension FuzzTarget {
    /// Applies one change a line. The fields equal those of a plain list with the same changes.
    static let headers = FuzzTarget("headers") { bytes in
        var input = FuzzInput(bytes)
        var headers = HTTPHeaders()
        var model: [(name: String, value: String)] = []
        for line in input.lines() {
            let operation = line.utf8.first ?? 0
            let rest = Array(line.utf8.dropFirst())
            // Short names of few letters, so that they often collide.
            let nameBytes = rest.prefix { $0 != UInt8(ascii: ":") }
            let name = String(decoding: nameBytes.map { $0 < 0x80 ? $0 : UInt8(ascii: "-") }, as: UTF8.self)
            let value = String(decoding: rest[nameBytes.endIndex...].dropFirst(), as: UTF8.self)
            let isNamed = { (field: (name: String, value: String)) in HTTPHeaderName(field.name) == HTTPHeaderName(name)
            }
            switch operation % 5 {
            case 0:
                headers.append(HTTPHeaderName(name), value)
                model.append((name, value))
            case 1:
                headers[HTTPHeaderName(name)] = value
                if let first = model.firstIndex(where: isNamed) {
                    model[first] = (name, value)
                    model = model[...first] + model[(first + 1)...].filter { !isNamed($0) }
                } else {
                    model.append((name, value))
                }
            case 2:
                headers.remove(HTTPHeaderName(name))
                model.removeAll(where: isNamed)
            case 3:
                let other = headers
                // Limits the number of fields.
                if headers.count < 64 {
                    headers.append(contentsOf: other)
                    model += model
                }
            default:
                Array(name.utf8).withUnsafeBytes { name in
                    Array(value.utf8).withUnsafeBytes { headers.append(name: name, value: $0) }
                }
                model.append((name, value))
            }
            try check(headers, against: model, checking: name)
        }
    }

    private static func check(
        _ headers: HTTPHeaders,
        against model: [(name: String, value: String)],
        checking name: String
    ) throws {
        try checkStorage(of: headers)
        try require(headers.count == model.count, "There are \(headers.count) fields, not \(model.count).")
        for (field, expected) in zip(headers, model) {
            try require(field.name.rawValue == expected.name, "A field has the name \(field.name).")
            try require(field.value.isSame(as: expected.value), "The field \(field.name) has another value.")
        }
        let wanted = HTTPHeaderName(name)
        let values = model.filter { HTTPHeaderName($0.name) == wanted }.map(\.value)
        try require(headers.values(for: wanted) == values, "The field \(name) has other values.")
        try require(headers.contains(wanted) == !values.isEmpty, "contains() and values(for:) disagree on \(name).")
        try require(
            headers[wanted] == (values.isEmpty ? nil : values.joined(separator: ", ")),
            "The joined value of \(name) is wrong."
        )
        let copy = HTTPHeaders(model.map { (HTTPHeaderName($0.name.lowercased()), $0.value) })
        try require(copy == headers && copy.hashValue == headers.hashValue, "Equal fields compare or hash unequal.")
    }

    /// Checks the layout of the buffer: each field is `name: value` and a NUL, one after another.
    static func checkStorage(of headers: HTTPHeaders) throws {
        var end = 0
        for index in headers.indices {
            let line = headers.line(at: index)
            try require(line.offset == end, "A field does not follow the previous one.")
            try require(
                line.offset + line.nameLength + 2 <= line.end,
                "A field is shorter than its name and separator."
            )
            try require(
                line.end < headers.bytes.count && headers.bytes[line.end] == 0,
                "A field is not followed by NUL."
            )
            let separator = headers.bytes[(line.offset + line.nameLength)..<(line.offset + line.nameLength + 2)]
            try require(separator.elementsEqual(": ".utf8), "There is no separator after the name.")
            end = line.end + 1
        }
        try require(headers.bytes.count == end, "There are bytes after the last field.")
        try require(headers.byteCount == end + headers.count, "The byte count is wrong.")
    }
}
