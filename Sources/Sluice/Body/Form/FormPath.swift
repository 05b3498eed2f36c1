/// The position of the encoder in the value.
///
/// A linked list of steps, converted to text or coding keys only when needed.
final class FormPath: Sendable {
    enum Step: Sendable {
        case key(any CodingKey)
        case index(Int)
        /// The value takes the place of the value around it, at the same level.
        case itself
    }

    /// The maximum nesting depth. Stops the encoding of a value that contains itself.
    static let depthLimit = 512
    /// The maximum length of the text of a path, in characters.
    private static let textLimit = 256

    let parent: FormPath?
    let step: Step
    let depth: Int

    private init(parent: FormPath?, step: Step, depth: Int) {
        self.parent = parent
        self.step = step
        self.depth = depth
    }

    /// Creates the path of the root value.
    convenience init() {
        self.init(parent: nil, step: .itself, depth: 0)
    }

    /// Returns the path extended by a step, or nil beyond the depth limit.
    func appending(_ step: Step) -> FormPath? {
        depth < Self.depthLimit ? FormPath(parent: self, step: step, depth: depth + 1) : nil
    }

    /// The steps from the root value to this position.
    private var steps: [Step] {
        var steps: [Step] = []
        var path: FormPath? = self
        while let here = path {
            steps.append(here.step)
            path = here.parent
        }
        return steps.reversed()
    }

    var codingPath: [any CodingKey] {
        steps.compactMap { step in
            switch step {
            case .key(let key): key
            case .index(let index): FormIndexKey(index)
            case .itself: nil
            }
        }
    }

    /// Returns the path as text, such as `items[0].id`, truncated if it is very long; empty for the root value.
    func text(appending last: Step) -> String {
        var text = ""
        for step in steps + [last] {
            switch step {
            case .key(let key): text += text.isEmpty ? key.stringValue : ".\(key.stringValue)"
            case .index(let index): text += "[\(index)]"
            case .itself: break
            }
        }
        return text.count > Self.textLimit ? "\(text.prefix(Self.textLimit))…" : text
    }
}

/// The coding key of an array element.
struct FormIndexKey: CodingKey {
    private let index: Int

    var stringValue: String { "Index \(index)" }
    var intValue: Int? { index }

    init(_ index: Int) {
        self.index = index
    }

    init?(stringValue: String) {
        nil
    }

    init?(intValue: Int) {
        self.init(intValue)
    }
}
