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
    /// A step of a path.
    public enum Component: Sendable, Hashable {
        /// The member of an object, or the element of an array if the key is a decimal index.
        case key(String)
        /// The element of an array. A negative index counts from the end.
        case index(Int)
    }

    /// The steps, from the outside in.
    public var components: [Component]

    /// The characters that a key can contain only in quotation marks.
    static let special = [UInt8](".>[".utf8)

    /// Creates a path from its steps.
    public init(_ components: [Component] = []) {
        self.components = components
    }

    /// Parses a path from text.
    public init(_ text: String) {
        components = JSONPathParser.components(of: text)
    }

    /// True if this is the path of the value itself.
    public var isEmpty: Bool { components.isEmpty }

    /// Returns this path followed by another.
    public func appending(_ other: JSONPath) -> JSONPath {
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
