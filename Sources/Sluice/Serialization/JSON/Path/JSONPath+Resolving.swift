#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension JSONPath {
    /// Returns the array index that a key represents; nil if the key has other characters than digits, or is too large.
    static func index(of key: String) -> Int? {
        key.utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) } ? Int(key) : nil
    }

    /// Returns the position of an element from the start of an array; nil if it is out of bounds.
    static func position(of index: Int, count: Int) -> Int? {
        let position = index < 0 ? index + count : index
        return position >= 0 && position < count ? position : nil
    }
}

extension JSON {
    /// The value at a path; ``JSON/null`` if there is none.
    ///
    /// ```swift
    /// let name = json[path: "data.items[0].name"].stringValue
    /// ```
    ///
    /// ``value(at:as:)`` throws an error that describes why there is no value.
    public subscript(path path: JSONPath) -> JSON {
        var json = self
        for component in path.components {
            guard let child = json.child(component) else { return .null }
            json = child
        }
        return json
    }

    /// Returns true if there is a value at a path, including `null`.
    public func contains(_ path: JSONPath) -> Bool {
        (try? find(path)) != nil
    }

    /// Returns the value at a path.
    func find(_ path: JSONPath) throws(JSONPathFailure) -> JSON {
        var json = self
        for (steps, component) in path.components.enumerated() {
            guard let child = json.child(component) else {
                throw JSONPathFailure(path, steps: steps, found: Kind(json), count: json.count)
            }
            json = child
        }
        return json
    }

    private func child(_ component: JSONPath.Component) -> JSON? {
        switch (self, component) {
        case (.object(let members), .key(let key)):
            return members[key]
        case (.array(let elements), .key(let key)):
            guard let index = JSONPath.index(of: key), index < elements.count else { return nil }
            return elements[index]
        case (.array(let elements), .index(let index)):
            return JSONPath.position(of: index, count: elements.count).map { elements[$0] }
        default:
            return nil
        }
    }
}

extension JSONDocument {
    /// Returns the node at a path without creating values for its containers.
    func find(_ path: JSONPath) throws(JSONPathFailure) -> Node {
        var node = root
        for (steps, component) in path.components.enumerated() {
            guard let child = child(component, of: node) else {
                throw JSONPathFailure(path, steps: steps, found: JSON.Kind(kind(of: node)), count: count(of: node))
            }
            node = child
        }
        return node
    }

    /// Returns the bytes of the value at a path, for a decoder that reads JSON.
    func slice(at path: JSONPath) throws(JSONPathFailure) -> Data {
        bytes(of: try find(path))
    }

    private func child(_ component: JSONPath.Component, of node: Node) -> Node? {
        switch (kind(of: node), component) {
        case (.object, .key(let key)):
            member(key, of: node)
        case (.array, .key(let key)):
            JSONPath.index(of: key).flatMap { element($0, of: node) }
        case (.array, .index(let index)):
            JSONPath.position(of: index, count: count(of: node)).flatMap { element($0, of: node) }
        default:
            nil
        }
    }
}

extension JSON.Kind {
    /// Creates the kind of a node.
    init(_ kind: JSONDocument.Kind) {
        self =
            switch kind {
            case .null: .null
            case .false, .true: .boolean
            case .number: .number
            case .string: .string
            case .array: .array
            case .object: .object
            }
    }
}
