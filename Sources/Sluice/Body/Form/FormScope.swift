#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// What the encoders and containers of one call share: the options, and the first failure met where none can be thrown.
final class FormScope {
    let options: URLEncodedFormEncoder
    private(set) var failure: FormEncodingFailure?

    init(options: URLEncodedFormEncoder) {
        self.options = options
    }

    /// Keeps the first failure, which the next call that can throw throws.
    func fail(_ failure: @autoclosure () -> FormEncodingFailure) {
        if self.failure == nil { self.failure = failure() }
    }

    /// Encodes a value.
    ///
    /// - Parameters:
    ///   - value: What to encode.
    ///   - step: The way from the path to the value.
    ///   - path: Where the value around it is.
    /// - Returns: What the value became.
    /// - Throws: A ``FormEncodingFailure`` that names the innermost value that cannot be encoded.
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

    /// The place of a nested container or a super encoder, or nil with a failure kept where that is too deep.
    func slot(_ step: FormPath.Step, in path: FormPath, holding node: FormNode = .nothing) -> FormSlot? {
        if let deeper = path.appending(step) { return FormSlot(scope: self, path: deeper, node: node) }
        fail(tooDeep(step, path))
        return nil
    }

    /// The text of a number.
    func node(
        of number: some BinaryFloatingPoint & CustomStringConvertible,
        _ step: FormPath.Step,
        in path: FormPath
    ) throws(FormEncodingFailure) -> FormNode {
        if number.isFinite { return .text(number.description) }
        throw FormEncodingFailure(at: path, step, "the number is \(number), which a form has no text for")
    }

    /// Types that encode themselves in another way than a form should have them, and two that are quicker this way.
    private func wellKnown<Value>(_ value: Value, _ step: FormPath.Step, _ path: FormPath) throws -> FormNode? {
        if Value.self == String.self { return (value as? String).map(FormNode.text) }
        if Value.self == Int.self { return (value as? Int).map { .text($0.description) } }
        if Value.self == URL.self { return (value as? URL).map { .text($0.absoluteString) } }
        if Value.self == Date.self, let date = value as? Date {
            if let text = try options.dateEncoding.text(of: date) { return .text(text) }
            throw FormEncodingFailure(at: path, step, "the date has no text in the encoder's format")
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
            throw FormEncodingFailure(at: path, step, "the number is \(number), which a form has no text for")
        }
        return nil
    }

    private func tooDeep(_ step: FormPath.Step, _ path: FormPath) -> FormEncodingFailure {
        FormEncodingFailure(
            at: path,
            step,
            "values are nested deeper than \(FormPath.depthLimit) levels; does one hold itself?"
        )
    }
}
