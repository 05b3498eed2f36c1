/// A value that stands in for another's, and changes to whatever stands there.
struct Override<Value: Sendable>: Sendable {
    private var replacement: Value?
    private var changes: [@Sendable (inout Value) -> Void] = []

    /// Whether anything else is said.
    var isChanged: Bool { replacement != nil || !changes.isEmpty }

    /// Takes the place of all that was said before.
    mutating func replace(with value: Value) {
        replacement = value
        changes = []
    }

    mutating func change(_ change: @escaping @Sendable (inout Value) -> Void) {
        changes.append(change)
    }

    func applied(to value: Value) -> Value {
        var result = replacement ?? value
        for change in changes { change(&result) }
        return result
    }
}
