/// A type whose mirror has selected children only, because `dump` and failed assertions would show its secrets.
package protocol RedactedMirror: CustomReflectable {
    /// The children of the mirror; none by default for a type with a description, which `dump` shows too.
    var shown: [Mirror.Child] { get }
}

extension RedactedMirror {
    /// A mirror without secrets.
    public var customMirror: Mirror {
        Mirror(self, children: shown, displayStyle: Self.self is AnyClass ? .class : .struct)
    }
}

extension RedactedMirror where Self: CustomStringConvertible {
    package var shown: [Mirror.Child] { [] }
}
