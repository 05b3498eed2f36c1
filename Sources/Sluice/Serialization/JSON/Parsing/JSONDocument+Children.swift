extension JSONDocument {
    /// The elements of an array in their order; nothing for others.
    func elements(of node: Node) -> Elements {
        let entry = tape[node.index]
        return Elements(
            document: self,
            position: node.index + 1,
            end: entry.kind == .array ? Int(entry.next) : node.index + 1
        )
    }

    /// The members of an object in their order, duplicates included; nothing for others.
    func members(of node: Node) -> Members {
        let entry = tape[node.index]
        return Members(
            document: self,
            position: node.index + 1,
            end: entry.kind == .object ? Int(entry.next) : node.index + 1
        )
    }

    /// The value of an object's member.
    ///
    /// - Parameters:
    ///   - name: The member's name. Of members with the same name the first counts, as with `JSONDecoder`.
    ///   - node: The object.
    /// - Returns: The value; nil if there is none of that name or the node is no object.
    func member(_ name: String, of node: Node) -> Node? {
        for (key, value) in members(of: node) where string(of: key, equals: name) {
            return value
        }
        return nil
    }

    /// The element at an index; nil if there is none or the node is no array.
    func element(_ index: Int, of node: Node) -> Node? {
        guard index >= 0, index < count(of: node) else { return nil }
        var elements = elements(of: node).makeIterator()
        for _ in 0..<index { _ = elements.next() }
        return elements.next()
    }

    /// The elements of an array.
    struct Elements: Sequence, IteratorProtocol, Sendable {
        fileprivate let document: JSONDocument
        fileprivate var position: Int
        fileprivate let end: Int

        mutating func next() -> Node? {
            guard position < end else { return nil }
            let node = Node(index: position)
            position = Int(document.tape[position].next)
            return node
        }
    }

    /// The members of an object.
    struct Members: Sequence, IteratorProtocol, Sendable {
        fileprivate let document: JSONDocument
        fileprivate var position: Int
        fileprivate let end: Int

        mutating func next() -> (key: Node, value: Node)? {
            guard position < end else { return nil }
            let key = Node(index: position)
            let value = Node(index: position + 1)
            position = Int(document.tape[position + 1].next)
            return (key, value)
        }
    }
}
