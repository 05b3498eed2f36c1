import Sluice

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// What is wrong with a file of exchanges, in words that go on after its name.
struct RecordingFailure: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) {
        self.description = description
    }

    /// What is wrong with a text that is no JSON, and where.
    init(_ error: JSONSyntaxError, in data: Data) {
        let isCutShort = error.offset >= data.count
        description = "\(isCutShort ? "it ends too early" : error.reason), in line \(error.line)"
    }
}

extension JSONNode {
    /// Reads the text of a file of exchanges.
    static func recording(_ data: Data) throws(RecordingFailure) -> JSONNode {
        do {
            return try JSONNode(parsing: data)
        } catch {
            throw RecordingFailure(error, in: data)
        }
    }
}
