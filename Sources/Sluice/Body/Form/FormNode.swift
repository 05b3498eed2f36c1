/// What a value became.
enum FormNode {
    /// It encoded nothing.
    case nothing
    case null
    case text(String)
    case object(FormObject)
    case array(FormArray)
    /// The place of a nested container or a super encoder, which is filled later.
    case slot(FormSlot)

    var resolved: FormNode {
        if case .slot(let slot) = self { slot.node } else { self }
    }
}

/// Fields in the order they were encoded.
final class FormObject {
    var fields = NamedValues<FormNode>()
}

/// Elements in their order, those that encoded nothing included, since each has an index.
final class FormArray {
    var elements: [FormNode] = []
}
