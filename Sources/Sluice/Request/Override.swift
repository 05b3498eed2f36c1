/// A replacement of another value, and changes that are applied to that value or its replacement.
struct Override<Value: Sendable>: Sendable {
    private var replacement: Value?
    private var changes: [@Sendable (inout Value) -> Void] = []

    /// True if there is a replacement or a change.
    var isChanged: Bool { replacement != nil || !changes.isEmpty }

    /// Sets the replacement and removes all earlier changes.
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
