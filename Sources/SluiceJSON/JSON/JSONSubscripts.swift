extension JSON {
    /// The member of an object; ``JSON/null`` if there is none, or this is not an object.
    ///
    /// Setting a member of `null` turns it into an object. Setting a member of any other value that is not an object
    /// has no effect. Setting a member to `nil` sets it to `null`; ``removeValue(forKey:)`` removes it.
    public subscript(key: String) -> JSON {
        get {
            guard case .object(let members) = self else { return .null }
            return members[key] ?? .null
        }
        set {
            guard var members = takeMembers() else { return }
            members[key] = newValue
            self = .object(members)
        }
        _modify {
            let wasNull = isNull
            guard var members = takeMembers() else {
                var nothing = JSON.null
                yield &nothing
                return
            }
            // Modify the member in place. Otherwise each nested change would copy everything below the member.
            let isNew = members[key] == nil
            defer { putBack(&members, key, isNew: isNew, wasNull: wasNull) }
            yield &members[key, default: .null]
        }
    }

    /// The element of an array; ``JSON/null`` if the index is out of bounds, or this is not an array.
    ///
    /// Setting the index after the last element appends the element, and turns `null` into an array. Setting a higher
    /// index, or an element of any other value that is not an array, has no effect.
    public subscript(index: Int) -> JSON {
        get {
            guard case .array(let elements) = self, elements.indices.contains(index) else { return .null }
            return elements[index]
        }
        set {
            guard var elements = takeElements(at: index) else { return }
            if index < elements.count {
                elements[index] = newValue
            } else {
                elements.append(newValue)
            }
            self = .array(elements)
        }
        _modify {
            guard let count = array?.count, index < count, var elements = takeElements(at: index) else {
                var element = JSON.null
                yield &element
                if !element.isNull { self[index] = element }
                return
            }
            defer { self = .array(elements) }
            yield &elements[index]
        }
    }

    /// The member of an object by its name: `json.user.name`. See ``JSON`` for the names that are not available.
    public subscript(dynamicMember key: String) -> JSON {
        get { self[key] }
        set { self[key] = newValue }
        _modify { yield &self[key] }
    }

    /// Removes a member from an object.
    ///
    /// - Parameter key: The name of the member.
    /// - Returns: The value of the removed member; nil if there is none, or this is not an object.
    @discardableResult
    public mutating func removeValue(forKey key: String) -> JSON? {
        guard case .object = self, var members = takeMembers() else { return nil }
        defer { self = .object(members) }
        return members.removeValue(forKey: key)
    }

    /// Moves the members out, so that they can be changed without a copy; nil if the value cannot have members.
    private mutating func takeMembers() -> [String: JSON]? {
        switch self {
        case .null:
            return [:]
        case .object(let members):
            self = .null
            return members
        case .bool, .number, .string, .array:
            return nil
        }
    }

    /// Ends the change of a member. Removes a new member that is still `null`, and an object that was created for it.
    ///
    /// Not inlined: the optimizer would keep a second reference to the members during the change, and thus copy them.
    @inline(never)
    private mutating func putBack(_ members: inout [String: JSON], _ key: String, isNew: Bool, wasNull: Bool) {
        if isNew, case .null? = members[key] { members[key] = nil }
        var rest: [String: JSON] = [:]
        swap(&rest, &members)
        self = wasNull && rest.isEmpty ? .null : .object(rest)
    }

    /// Moves the elements out; nil if no element can be set at the index.
    private mutating func takeElements(at index: Int) -> [JSON]? {
        switch self {
        case .null where index == 0:
            return []
        case .array(let elements) where index >= 0 && index <= elements.count:
            self = .null
            return elements
        case .null, .bool, .number, .string, .array, .object:
            return nil
        }
    }
}
