/// The reason why a ``URITemplate`` cannot be expanded.
public struct URITemplateFailure: Error, Sendable, Hashable, CustomStringConvertible {
    /// The template.
    public let template: String
    /// The position of the error in the template, in Unicode scalars from 0.
    public let position: Int
    /// The error, as the rest of a sentence.
    public let reason: String

    init(_ template: String, atByte offset: Int, _ reason: String) {
        self.template = template
        // Continuation bytes are skipped, so that each scalar counts once.
        position = template.utf8.prefix(offset).count { $0 & 0xC0 != 0x80 }
        self.reason = reason
    }

    /// One sentence, without the values of variables.
    public var description: String {
        "The URI template “\(template)” cannot be expanded: at position \(position), \(reason)."
    }
}
