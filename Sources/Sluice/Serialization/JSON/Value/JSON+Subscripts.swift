extension JSON {
    /// The member of an object; ``JSON/null`` if there is none, or this is no object.
    ///
    /// To set a member of `null` makes an object of it. To set one of anything else that is no object changes nothing.
    /// Setting a member to `nil` sets it to `null`, ``removeValue(forKey:)`` takes it away.
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
            // In place: a copy of what the member holds would make each nested change cost as much as the whole.
            let isNew = members[key] == nil
            defer { self = wasNull && members.isEmpty ? .null : .object(members) }
            yield &members[key, default: .null]
            if isNew, case .null? = members[key] { members[key] = nil }
        }
    }

    /// The element of an array; ``JSON/null`` if there is none of this index, or this is no array.
    ///
    /// To set the element after the last appends it, and makes an array of `null`. To set one further out, or of anything
    /// else that is no array, changes nothing.
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

    /// What several keys and indexes lead to; ``JSON/null`` if one of them leads nowhere.
    ///
    /// ```swift
    /// let name = json["items", 0, "name"].stringValue
    /// ```
    ///
    /// Setting sets each level as the subscripts of one key or index do.
    public subscript(steps: any JSONStep...) -> JSON {
        get {
            steps.reduce(self) { json, step in
                switch step.jsonStep {
                case .key(let key): json[key]
                case .index(let index): json[index]
                }
            }
        }
        set { set(newValue, at: steps[...]) }
    }

    /// The member of an object, by its name in code: `json.user.name`; see ``JSON`` for the names that are taken.
    public subscript(dynamicMember key: String) -> JSON {
        get { self[key] }
        set { self[key] = newValue }
        _modify { yield &self[key] }
    }

    /// Takes a member away from an object.
    ///
    /// - Parameter key: The member's name.
    /// - Returns: The member's value; nil if there is none, or this is no object.
    @discardableResult
    public mutating func removeValue(forKey key: String) -> JSON? {
        guard case .object = self, var members = takeMembers() else { return nil }
        defer { self = .object(members) }
        return members.removeValue(forKey: key)
    }

    /// Takes the members out, so that they can be changed without a copy; nil if this can have none.
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

    /// Takes the elements out; nil if none can be set at the index.
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

    private mutating func set(_ value: JSON, at steps: ArraySlice<any JSONStep>) {
        switch steps.first?.jsonStep {
        case nil: self = value
        case .key(let key)?: self[key].set(value, at: steps.dropFirst())
        case .index(let index)?: self[index].set(value, at: steps.dropFirst())
        }
    }
}

/// What a step of a subscript with several can be: a `String` for a member, an `Int` for an element.
public protocol JSONStep: Sendable {
    /// The step as a component of a path.
    var jsonStep: JSONPath.Component { get }
}

extension String: JSONStep {
    /// The member of this name.
    public var jsonStep: JSONPath.Component { .key(self) }
}

extension Int: JSONStep {
    /// The element of this index.
    public var jsonStep: JSONPath.Component { .index(self) }
}
