import SluiceFoundation

/// A JSON document that is being decoded, and the options of the decoder.
final class LenientInput {
    typealias Node = JSONDocument.Node

    let document: JSONDocument
    let decoder: LenientJSONDecoder
    /// The decoder's conversions, copied for fast access.
    let conversions: LenientJSONDecoder.Conversions
    let convertsNames: Bool
    /// True if the results are those of a `JSONDecoder`. The decoder then has no conversions.
    let mirrorsJSONDecoder: Bool
    /// The input of the text whose string contains this JSON text; nil for the whole text.
    private let whole: LenientInput?
    /// The names converted from snake case.
    var names: [String: String] = [:]
    /// The offsets of properties in the mirrors of types with default values.
    var properties: [ObjectIdentifier: [String: Int]] = [:]
    /// True if a `JSONDecoder` may have returned another value.
    var isDoubtful = false

    /// The input that keeps the results that are needed repeatedly, also for the JSON texts inside strings.
    var cache: LenientInput { whole ?? self }

    init(
        _ document: JSONDocument,
        decoder: LenientJSONDecoder,
        mirrorsJSONDecoder: Bool = false,
        within other: LenientInput? = nil
    ) {
        self.document = document
        self.mirrorsJSONDecoder = mirrorsJSONDecoder
        self.decoder = decoder
        whole = other?.cache
        conversions = decoder.conversions
        if case .useDefaultKeys = decoder.keyDecodingStrategy { convertsNames = false } else { convertsNames = true }
    }

    /// Records that a `JSONDecoder` may return another value than this decoder, if its results are required.
    @inline(never)
    func doubt() {
        if mirrorsJSONDecoder { cache.isDoubtful = true }
    }

    @inline(__always)
    func kind(of node: Node) -> JSONDocument.Kind { document.kind(of: node) }

    /// Calls a closure with the text of a number, or of a string that may contain one, without surrounding whitespace.
    @inline(__always)
    func withNumberText<Result>(of node: Node, _ body: (UnsafeBufferPointer<UInt8>) -> Result?) -> Result? {
        let entry = document.tape[node.index]
        switch entry.kind {
        case .number:
            return document.withBytes(of: node) { body($0) }
        case .string where conversions.contains(.numbersFromStrings):
            return withTrimmedString(of: node, body)
        default:
            return nil
        }
    }

    /// Calls a closure with the value of a string, without surrounding whitespace.
    func withTrimmedString<Result>(of node: Node, _ body: (UnsafeBufferPointer<UInt8>) -> Result?) -> Result? {
        if document.tape[node.index].isPlain {
            return document.withBytes(of: node) { bytes in
                body(UnsafeBufferPointer(rebasing: bytes.dropFirst().dropLast().trimmingWhiteSpace))
            }
        }
        var string = document.string(of: node)
        return string.withUTF8 { body(UnsafeBufferPointer(rebasing: $0[...].trimmingWhiteSpace)) }
    }
}
