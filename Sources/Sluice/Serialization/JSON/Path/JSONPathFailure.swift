/// Why a path leads nowhere in a JSON value.
///
/// ```
/// `data.items` has 2 elements, there is no [5].
/// `data` is a string, it has no member `items`.
/// ```
public struct JSONPathFailure: Error, Sendable, Hashable, CustomStringConvertible {
    /// The path that was looked up.
    public let path: JSONPath
    /// The part of the path that leads somewhere.
    public let reached: JSONPath
    /// What is there.
    public let found: JSON.Kind
    /// How many elements or members it has; 0 for what is neither array nor object.
    public let count: Int

    init(_ path: JSONPath, steps: Int, found: JSON.Kind, count: Int) {
        self.path = path
        self.reached = JSONPath(Array(path.components.prefix(steps)))
        self.found = found
        self.count = count
    }

    /// The step that could not be taken.
    private var step: JSONPath.Component? {
        path.components.dropFirst(reached.components.count).first
    }

    /// Whether an element of an array was looked for.
    var isIndex: Bool {
        if case .index? = step { true } else { false }
    }

    /// Whether what is found could have had what is looked for. Null is taken for an object or array left out.
    var isMissing: Bool {
        switch (found, step) {
        case (.object, .key), (.array, .index), (.null, _): true
        case (.array, .key(let key)?): JSONPath.index(of: key) != nil
        default: false
        }
    }

    /// One sentence, with nothing of the JSON value but the keys of the path.
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
