import SluiceFoundation

/// The path to a value in a JSON value: keys and indexes, from the outside in.
///
/// ```swift
/// let name = json[path: "data.items[0].name"]
/// let first = json[path: "data>items>0"]
/// let last = json[path: #"["a.b"].items[-1]"#]
/// ```
///
/// Keys are separated by `.` or `>`. A key that consists of digits, as in `items.0`, is an index if the value is an
/// array. `[n]` is an index, and `[-1]` is the last element. `["…"]` or `['…']` is a key with arbitrary characters,
/// with quotation marks and backslashes escaped by a backslash. Any other bracket is part of a key. Unquoted empty keys
/// are ignored. The empty path is the value itself. Every text is a valid path.
public struct JSONPath: Sendable, Hashable {
    package enum Component: Sendable, Hashable {
        /// The member of an object, or the element of an array if the key is a decimal index.
        case key(String)
        /// The element of an array. A negative index counts from the end.
        case index(Int)
    }

    /// The steps, from the outside in.
    package let components: [Component]

    /// The characters that a key can contain only in quotation marks.
    static let special = [UInt8](".>[".utf8)

    /// Creates a path from its steps.
    package init(_ components: [Component] = []) {
        self.components = components
    }

    /// Parses a path from text.
    public init(_ text: String) {
        components = JSONPathParser.components(of: text)
    }

    /// True if this is the path of the value itself.
    public var isEmpty: Bool { components.isEmpty }

    /// Returns this path followed by another.
    package func appending(_ other: JSONPath) -> JSONPath {
        JSONPath(components + other.components)
    }
}

extension JSONPath: ExpressibleByStringLiteral {
    /// Parses a path from a literal.
    public init(stringLiteral text: String) {
        self.init(text)
    }
}

extension JSONPath: CustomStringConvertible {
    /// The path as text, which parses to the same path: `data.items[0]["a.b"]`.
    public var description: String {
        components.reduce(into: "") { text, component in
            switch component {
            case .index(let index):
                text += "[\(index)]"
            case .key(let key) where key.isEmpty || key.utf8.contains(where: JSONPath.special.contains):
                let escaped = key.unicodeScalars.reduce(into: "") { escaped, scalar in
                    if scalar == "\"" || scalar == "\\" { escaped += "\\" }
                    escaped.unicodeScalars.append(scalar)
                }
                text += "[\"\(escaped)\"]"
            case .key(let key):
                text += text.isEmpty ? key : ".\(key)"
            }
        }
    }
}

// MARK: - Look-up

extension JSONPath {
    /// Returns the array index that a key represents; nil if the key has other characters than digits, or is too large.
    static func index(of key: String) -> Int? {
        key.utf8.allSatisfy { $0.isDecimalDigit } ? Int(key) : nil
    }

    /// Returns the position of an element from the start of an array; nil if it is out of bounds.
    static func position(of index: Int, count: Int) -> Int? {
        let position = index < 0 ? index + count : index
        return position >= 0 && position < count ? position : nil
    }
}

extension JSON {
    /// The value at a path; ``JSON/null`` if there is none.
    ///
    /// ```swift
    /// let name = json[path: "data.items[0].name"].stringValue
    /// ```
    ///
    /// ``value(at:as:)`` throws an error that describes why there is no value.
    public subscript(path path: JSONPath) -> JSON {
        var json = self
        for component in path.components {
            guard let child = json.child(component) else { return .null }
            json = child
        }
        return json
    }

    /// Returns true if there is a value at a path, including `null`.
    public func contains(_ path: JSONPath) -> Bool {
        (try? find(path)) != nil
    }

    /// Returns the value at a path.
    package func find(_ path: JSONPath) throws(JSONPathFailure) -> JSON {
        var json = self
        for (steps, component) in path.components.enumerated() {
            guard let child = json.child(component) else {
                throw JSONPathFailure(path, steps: steps, found: Kind(json), count: json.count)
            }
            json = child
        }
        return json
    }

    private func child(_ component: JSONPath.Component) -> JSON? {
        switch (self, component) {
        case (.object(let members), .key(let key)):
            return members[key]
        case (.array(let elements), .key(let key)):
            guard let index = JSONPath.index(of: key), index < elements.count else { return nil }
            return elements[index]
        case (.array(let elements), .index(let index)):
            return JSONPath.position(of: index, count: elements.count).map { elements[$0] }
        default:
            return nil
        }
    }
}

extension JSONDocument {
    /// Returns the node at a path without creating values for its containers.
    package func find(_ path: JSONPath) throws(JSONPathFailure) -> Node {
        var node = root
        for (steps, component) in path.components.enumerated() {
            guard let child = child(component, of: node) else {
                throw JSONPathFailure(path, steps: steps, found: JSON.Kind(kind(of: node)), count: count(of: node))
            }
            node = child
        }
        return node
    }

    /// Returns the bytes of the value at a path, for a decoder that reads JSON.
    package func slice(at path: JSONPath) throws(JSONPathFailure) -> Data {
        bytes(of: try find(path))
    }

    private func child(_ component: JSONPath.Component, of node: Node) -> Node? {
        switch (kind(of: node), component) {
        case (.object, .key(let key)):
            member(key, of: node)
        case (.array, .key(let key)):
            JSONPath.index(of: key).flatMap { element($0, of: node) }
        case (.array, .index(let index)):
            JSONPath.position(of: index, count: count(of: node)).flatMap { element($0, of: node) }
        default:
            nil
        }
    }
}

extension JSON.Kind {
    /// Creates the kind of a node.
    package init(_ kind: JSONDocument.Kind) {
        self =
            switch kind {
            case .null: .null
            case .false, .true: .boolean
            case .number: .number
            case .string: .string
            case .array: .array
            case .object: .object
            }
    }
}

/// The reason there is no value at a path in a JSON value.
///
/// ```
/// `data.items` has 2 elements; there is no element [5].
/// `data` is a string and has no member `items`.
/// ```
package struct JSONPathFailure: Error, Sendable, Hashable, CustomStringConvertible {
    package let path: JSONPath
    /// The longest part of the path that has a value.
    package let reached: JSONPath
    /// The kind of the value at that part.
    package let found: JSON.Kind
    /// The number of elements or members of that value; 0 if it is neither an array nor an object.
    package let count: Int

    init(_ path: JSONPath, steps: Int, found: JSON.Kind, count: Int) {
        self.path = path
        self.reached = JSONPath(Array(path.components.prefix(steps)))
        self.found = found
        self.count = count
    }

    /// The first step without a value.
    private var step: JSONPath.Component? {
        path.components.dropFirst(reached.components.count).first
    }

    /// True if the step is an index.
    var isIndex: Bool {
        if case .index? = step { true } else { false }
    }

    /// True if the container has a suitable kind but no such element or member. Null counts as a missing container.
    var isMissing: Bool {
        switch (found, step) {
        case (.object, .key), (.array, .index), (.null, _): true
        case (.array, .key(let key)?): JSONPath.index(of: key) != nil
        default: false
        }
    }

    /// A one-sentence description that contains nothing of the JSON value except the keys of the path.
    package var description: String {
        let subject = reached.isEmpty ? "The value" : "`\(reached)`"
        switch step {
        case .index(let index)?:
            return found == .array ? elements(subject, index) : "\(subject) is \(found) and has no element [\(index)]."
        case .key(let key)?:
            if found == .array, let index = JSONPath.index(of: key) { return elements(subject, index) }
            let problem =
                found == .object
                ? "\(subject) has no member `\(key)`" : "\(subject) is \(found) and has no member `\(key)`"
            return key.utf8.contains(UInt8(ascii: "["))
                ? "\(problem), whose bracket is part of the key: write [0] for an element, or [\"key\"]."
                : "\(problem)."
        case nil:
            return "\(subject) is \(found)."
        }
    }

    private func elements(_ subject: String, _ index: Int) -> String {
        "\(subject) has \(count == 0 ? "no" : "\(count)") element\(count == 1 ? "" : "s"); there is no element [\(index)]."
    }
}

// MARK: - Parsing

/// Parses the components of a ``JSONPath``. Every text is valid.
struct JSONPathParser {
    private var rest: Substring.UTF8View
    private var key: [UInt8] = []
    private var components: [JSONPath.Component] = []

    static func components(of text: String) -> [JSONPath.Component] {
        // Most paths are a single key.
        guard text.utf8.contains(where: JSONPath.special.contains) else { return text.isEmpty ? [] : [.key(text)] }
        var parser = JSONPathParser(rest: Substring(text).utf8)
        parser.parse()
        return parser.components
    }

    private init(rest: Substring.UTF8View) {
        self.rest = rest
    }

    private mutating func parse() {
        while let byte = rest.first {
            if byte == UInt8(ascii: "["), let bracket = bracket() {
                endKey()
                components.append(bracket.component)
                rest = bracket.rest
                continue
            }
            rest.removeFirst()
            if byte == UInt8(ascii: ".") || byte == UInt8(ascii: ">") {
                endKey()
            } else {
                key.append(byte)
            }
        }
        endKey()
    }

    private mutating func endKey() {
        guard !key.isEmpty else { return }
        components.append(.key(String(decoding: key, as: UTF8.self)))
        key.removeAll()
    }

    /// Parses the bracket at the current position. Returns its component and the rest of the text, or nil if it
    /// contains neither an index nor a quoted key.
    private func bracket() -> (component: JSONPath.Component, rest: Substring.UTF8View)? {
        let inside = rest.dropFirst()
        if let mark = inside.first, mark == UInt8(ascii: "\"") || mark == UInt8(ascii: "'") {
            return quotedKey(inside.dropFirst(), until: mark)
        }
        let number = inside.prefix { $0 != UInt8(ascii: "]") }
        guard number.endIndex < inside.endIndex, number.first != UInt8(ascii: "+") else { return nil }
        guard let index = Int(Substring(number)) else { return nil }
        return (.index(index), inside[number.endIndex...].dropFirst())
    }

    private func quotedKey(
        _ text: Substring.UTF8View,
        until mark: UInt8
    ) -> (component: JSONPath.Component, rest: Substring.UTF8View)? {
        var rest = text
        var key: [UInt8] = []
        while var byte = rest.popFirst() {
            if byte == mark {
                guard rest.popFirst() == UInt8(ascii: "]") else { return nil }
                return (.key(String(decoding: key, as: UTF8.self)), rest)
            }
            if byte == UInt8(ascii: "\\") {
                guard let escaped = rest.popFirst() else { return nil }
                byte = escaped
            }
            key.append(byte)
        }
        return nil
    }
}
