/// The encoded form of a value.
enum FormNode {
    /// The value encoded nothing.
    case nothing
    case null
    case text(String)
    case object(FormObject)
    case array(FormArray)
    /// A nested container or super encoder that is filled later.
    case slot(FormSlot)

    var resolved: FormNode {
        if case .slot(let slot) = self { slot.node } else { self }
    }
}

/// The fields of an object, in the order in which they were encoded.
final class FormObject {
    var fields = NamedValues<FormNode>()
}

/// The elements of an array. Elements that encoded nothing are included, because every element has an index.
final class FormArray {
    var elements: [FormNode] = []
}
