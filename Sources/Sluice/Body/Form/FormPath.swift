/// Where in the value the encoder is.
///
/// It is known step by step, and written out only for an error or for a value that asks.
final class FormPath: Sendable {
    enum Step: Sendable {
        case key(any CodingKey)
        case index(Int)
        /// Nowhere deeper: the value stands in place of the one around it.
        case itself
    }

    /// How deep values may be nested. A value that holds itself would have no end.
    static let depthLimit = 512
    /// How much of a path is written out, in characters.
    private static let textLimit = 256

    let parent: FormPath?
    let step: Step
    let depth: Int

    private init(parent: FormPath?, step: Step, depth: Int) {
        self.parent = parent
        self.step = step
        self.depth = depth
    }

    /// The path of the whole value.
    convenience init() {
        self.init(parent: nil, step: .itself, depth: 0)
    }

    /// A step deeper, or nil where that is too deep.
    func appending(_ step: Step) -> FormPath? {
        depth < Self.depthLimit ? FormPath(parent: self, step: step, depth: depth + 1) : nil
    }

    /// The steps from the whole value to here.
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

    /// The path as `items[0].id`, cut short if it is very long; empty for the whole value.
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

/// The key of an array's element.
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
