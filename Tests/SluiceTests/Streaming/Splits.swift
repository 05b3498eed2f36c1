import Foundation
import Sluice

/// Runs a parser on bytes that arrive in pieces.
enum Splits {
    /// Returns a parser's elements of chunks, and the code of its error.
    static func elements<Parser: StreamParser>(
        _ chunks: [Data],
        _ parser: Parser
    ) -> ([Parser.Element], SluiceError.Code?) {
        var parser = parser
        var elements: [Parser.Element] = []
        do throws(SluiceError) {
            for chunk in chunks {
                parser.append(chunk)
                while let element = try parser.next() { elements.append(element) }
            }
            parser.finish()
            while let element = try parser.next() { elements.append(element) }
            return (elements, nil)
        } catch {
            return (elements, error.code)
        }
    }

    /// The bytes as a whole, byte by byte, in two pieces at every offset, and in three at some. The pieces are slices of a larger
    /// buffer.
    static func all(of bytes: [UInt8]) -> [[Data]] {
        let framed = Data([10] + bytes + [10])
        let whole = framed.dropFirst().dropLast()
        var splits = [[Data(bytes)], [whole], bytes.map { Data([$0]) }, [whole, Data()], [Data(), whole]]
        for place in 0...bytes.count {
            splits.append([whole.prefix(place), whole.dropFirst(place)])
            splits.append([whole.prefix(place / 2), whole.prefix(place).dropFirst(place / 2), whole.dropFirst(place)])
        }
        return splits
    }
}
