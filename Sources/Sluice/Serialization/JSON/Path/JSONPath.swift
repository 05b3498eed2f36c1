/// Where a value stands in a JSON value: keys and indexes, from the outside in.
///
/// ```swift
/// let name = json[path: "data.items[0].name"]
/// let first = json[path: "data>items>0"]
/// let last = json[path: #"["a.b"].items[-1]"#]
/// ```
///
/// Keys are separated by `.` or `>`. A key of digits alone, as in `items.0`, is an index where it meets an array. `[n]` is
/// an index, `[-1]` the last element; `["…"]` or `['…']` is a key that may hold anything, quotation marks and
/// backslashes behind a backslash. Whatever is no such bracket is part of a key, empty keys outside of quotation marks are
/// passed over, and the empty path is the value itself: there is no text that is not a path.
public struct JSONPath: Sendable, Hashable {
    /// A step of the way.
    public enum Component: Sendable, Hashable {
        /// The member of an object; of an array the element, if the key is an index in decimal digits.
        case key(String)
        /// The element of an array; a negative index counts from the end.
        case index(Int)
    }

    /// The steps, from the outside in.
    public var components: [Component]

    /// What a key can hold only in quotation marks.
    static let special = [UInt8](".>[".utf8)

    /// Makes a path of its steps.
    public init(_ components: [Component] = []) {
        self.components = components
    }

    /// Reads a path from a text.
    public init(_ text: String) {
        components = JSONPathParser.components(of: text)
    }

    /// Whether this is the path of the value itself.
    public var isEmpty: Bool { components.isEmpty }

    /// The path that goes on from this one.
    public func appending(_ other: JSONPath) -> JSONPath {
        JSONPath(components + other.components)
    }
}

extension JSONPath: ExpressibleByStringLiteral {
    /// Reads a path from a literal.
    public init(stringLiteral text: String) {
        self.init(text)
    }
}

extension JSONPath: CustomStringConvertible {
    /// The path as text, from which the same path can be read: `data.items[0]["a.b"]`.
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
