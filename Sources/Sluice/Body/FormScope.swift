import SluiceFoundation

/// The state that all encoders and containers of one encoding share: the options, and the first failure that could not
/// be thrown where it occurred.
final class FormScope {
    let options: URLEncodedFormEncoder
    private(set) var failure: FormEncodingFailure?

    init(options: URLEncodedFormEncoder) {
        self.options = options
    }

    /// Records a failure if it is the first. The next throwing call throws it.
    func fail(_ failure: @autoclosure () -> FormEncodingFailure) {
        if self.failure == nil { self.failure = failure() }
    }

    /// Encodes a value.
    ///
    /// - Parameters:
    ///   - value: The value to encode.
    ///   - step: The step from the path to the value.
    ///   - path: The path of the enclosing value.
    /// - Returns: The encoded form of the value.
    /// - Throws: A ``FormEncodingFailure`` for the innermost value that cannot be encoded.
    func node<Value: Encodable>(
        of value: Value,
        _ step: FormPath.Step,
        in path: FormPath
    ) throws(FormEncodingFailure) -> FormNode {
        if let failure { throw failure }
        do {
            if let node = try wellKnown(value, step, path) { return node }
            guard let deeper = path.appending(step) else { throw tooDeep(step, path) }
            let slot = FormSlot(scope: self, path: deeper)
            try value.encode(to: slot)
            return slot.node
        } catch let failure as FormEncodingFailure {
            throw failure
        } catch {
            throw FormEncodingFailure(at: path, step, "encoding threw \(type(of: error))", cause: error)
        }
    }

    /// Creates the encoder for a nested container or a super encoder. Beyond the depth limit, records a failure and
    /// returns nil.
    func slot(_ step: FormPath.Step, in path: FormPath, holding node: FormNode = .nothing) -> FormSlot? {
        if let deeper = path.appending(step) { return FormSlot(scope: self, path: deeper, node: node) }
        fail(tooDeep(step, path))
        return nil
    }

    /// Returns the text of a number.
    func node(
        of number: some BinaryFloatingPoint & CustomStringConvertible,
        _ step: FormPath.Step,
        in path: FormPath
    ) throws(FormEncodingFailure) -> FormNode {
        if number.isFinite { return .text(number.description) }
        throw FormEncodingFailure(at: path, step, "the number \(number) cannot be represented in a form")
    }

    /// Encodes the types for which a form does not use `encode(to:)`, and two common types for speed. Returns nil for
    /// others.
    private func wellKnown<Value>(_ value: Value, _ step: FormPath.Step, _ path: FormPath) throws -> FormNode? {
        if Value.self == String.self { return (value as? String).map(FormNode.text) }
        if Value.self == Int.self { return (value as? Int).map { .text($0.description) } }
        if Value.self == URL.self { return (value as? URL).map { .text($0.absoluteString) } }
        if Value.self == Date.self, let date = value as? Date {
            if let text = try options.dateEncoding.text(of: date) { return .text(text) }
            throw FormEncodingFailure(at: path, step, "the date cannot be represented in the encoder's date format")
        }
        if Value.self == Data.self, let data = value as? Data {
            switch options.dataEncoding {
            case .deferredToData: return nil
            case .base64: return .text(data.base64EncodedString())
            case .custom(let text): return .text(try text(data))
            }
        }
        if Value.self == Decimal.self, let number = value as? Decimal {
            if number.isFinite { return .text(number.description) }
            throw FormEncodingFailure(at: path, step, "the number \(number) cannot be represented in a form")
        }
        return nil
    }

    private func tooDeep(_ step: FormPath.Step, _ path: FormPath) -> FormEncodingFailure {
        FormEncodingFailure(
            at: path,
            step,
            "values are nested more than \(FormPath.depthLimit) levels deep, possibly because a value contains itself"
        )
    }
}

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
