#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

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
        throw FormEncodingFailure(at: path, step, "the number is \(number), which a form has no text for")
    }

    /// Encodes the types for which a form does not use `encode(to:)`, and two common types for speed. Returns nil for
    /// others.
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
