/// The reason there is no value at a path in a JSON value.
///
/// ```
/// `data.items` has 2 elements, there is no [5].
/// `data` is a string, it has no member `items`.
/// ```
public struct JSONPathFailure: Error, Sendable, Hashable, CustomStringConvertible {
    /// The requested path.
    public let path: JSONPath
    /// The longest part of the path that has a value.
    public let reached: JSONPath
    /// The kind of the value at that part.
    public let found: JSON.Kind
    /// The number of elements or members of that value; 0 if it is neither an array nor an object.
    public let count: Int

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
    public var description: String {
        let place = reached.isEmpty ? "The value" : "`\(reached)`"
        switch step {
        case .index(let index)?:
            return found == .array ? elements(place, index) : "\(place) is \(found), it has no element [\(index)]."
        case .key(let key)?:
            if found == .array, let index = JSONPath.index(of: key) { return elements(place, index) }
            return found == .object
                ? "\(place) has no member `\(key)`." : "\(place) is \(found), it has no member `\(key)`."
        case nil:
            return "\(place) is \(found)."
        }
    }

    private func elements(_ place: String, _ index: Int) -> String {
        "\(place) has \(count == 0 ? "no" : "\(count)") element\(count == 1 ? "" : "s"), there is no [\(index)]."
    }
}
