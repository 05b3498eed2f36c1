import Sluice

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A problem with a cassette or an archive. The description continues a sentence that starts with the name of the file.
struct RecordingFailure: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) {
        self.description = description
    }

    /// Creates a failure for a JSON syntax error, with its line.
    init(_ error: JSONSyntaxError, in data: Data) {
        let isCutShort = error.offset >= data.count
        description = "\(isCutShort ? "it ends too early" : error.reason), in line \(error.line)"
    }
}

extension JSONNode {
    /// Parses the JSON text of a cassette or an archive.
    static func recording(_ data: Data) throws(RecordingFailure) -> JSONNode {
        do {
            return try JSONNode(parsing: data)
        } catch {
            throw RecordingFailure(error, in: data)
        }
    }
}
