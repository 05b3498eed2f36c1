#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A text that is being decoded, and how.
final class LenientInput {
    typealias Node = JSONDocument.Node

    let document: JSONDocument
    let decoder: LenientJSONDecoder
    /// The decoder's, where it can be had quickly.
    let conversions: LenientJSONDecoder.Conversions
    let convertsNames: Bool
    /// Shared with the texts that strings of this one hold.
    let memory: Memory

    /// What has been found out and will be asked again.
    final class Memory {
        /// Names converted from snake case.
        var names: [String: String] = [:]
        /// Where the properties stand in the mirrors of types with default values.
        var properties: [ObjectIdentifier: [String: Int]] = [:]
    }

    init(_ document: JSONDocument, decoder: LenientJSONDecoder, memory: Memory = Memory()) {
        self.document = document
        self.decoder = decoder
        self.memory = memory
        conversions = decoder.conversions
        if case .useDefaultKeys = decoder.keyDecodingStrategy { convertsNames = false } else { convertsNames = true }
    }

    @inline(__always)
    func kind(of node: Node) -> JSONDocument.Kind { document.kind(of: node) }

    /// Hands out the text of a number, or of a string that may hold one, without white space around it.
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

    /// Hands out a string's value without white space around it.
    func withTrimmedString<Result>(of node: Node, _ body: (UnsafeBufferPointer<UInt8>) -> Result?) -> Result? {
        if document.tape[node.index].isPlain {
            return document.withBytes(of: node) { body($0.dropFirst().dropLast().trimmingWhiteSpace) }
        }
        var string = document.string(of: node)
        return string.withUTF8 { body($0[...].trimmingWhiteSpace) }
    }
}

extension Slice<UnsafeBufferPointer<UInt8>> {
    /// What is left without space, tabulators and line breaks at both ends.
    fileprivate var trimmingWhiteSpace: UnsafeBufferPointer<UInt8> {
        var rest = self
        while let byte = rest.first, byte == 0x20 || (0x09...0x0D).contains(byte) { rest.removeFirst() }
        while let byte = rest.last, byte == 0x20 || (0x09...0x0D).contains(byte) { rest.removeLast() }
        return UnsafeBufferPointer(rebasing: rest)
    }
}
