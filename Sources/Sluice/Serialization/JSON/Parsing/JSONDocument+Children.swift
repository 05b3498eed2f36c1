extension JSONDocument {
    /// Returns the elements of an array, in order; nothing for other values.
    package func elements(of node: Node) -> Elements {
        let entry = tape[node.index]
        return Elements(
            document: self,
            position: node.index + 1,
            end: entry.kind == .array ? Int(entry.next) : node.index + 1
        )
    }

    /// Returns the members of an object, in order and including duplicates; nothing for other values.
    package func members(of node: Node) -> Members {
        let entry = tape[node.index]
        return Members(
            document: self,
            position: node.index + 1,
            end: entry.kind == .object ? Int(entry.next) : node.index + 1
        )
    }

    /// Returns the value of an object's member.
    ///
    /// - Parameters:
    ///   - name: The name of the member. If several members have this name, the first is used, as with `JSONDecoder`.
    ///   - node: The object.
    /// - Returns: The value; nil if there is no such member or the node is not an object.
    func member(_ name: String, of node: Node) -> Node? {
        let object = tape[node.index]
        guard object.kind == .object else { return nil }
        var name = name
        let place = name.withUTF8 { name in
            tape.withUnsafeBufferPointer { tape in
                storage.withUnsafeBufferPointer { bytes in
                    Self.member(name, between: node.index + 1, and: Int(object.next), of: tape, in: bytes)
                }
            }
        }
        switch place {
        case .found(let index): return Node(index: index)
        case .none: return nil
        case .unclear(let index):
            // Names that are not plain ASCII can be written in several ways.
            let rest = Members(document: self, position: index, end: Int(object.next))
            return rest.first { string(of: $0.key, equals: name) }?.value
        }
    }

    private enum Place {
        case found(Int)
        case none
        /// A comparison of bytes is not sufficient, starting at the member whose name has the index.
        case unclear(Int)
    }

    /// Finds a member by the bytes of its name.
    private static func member(
        _ name: UnsafeBufferPointer<UInt8>,
        between start: Int,
        and end: Int,
        of tape: UnsafeBufferPointer<Entry>,
        in bytes: UnsafeBufferPointer<UInt8>
    ) -> Place {
        guard name.allSatisfy({ $0 < 0x80 }) else { return .unclear(start) }
        var position = start
        while position < end {
            let key = tape[position]
            guard key.isPlain, key.isASCII else { return .unclear(position) }
            let first = Int(key.start) + 1
            if Int(key.end) - first - 1 == name.count,
                name.indices.allSatisfy({ bytes[first + $0] == name[$0] })
            {
                return .found(position + 1)
            }
            position = Int(tape[position + 1].next)
        }
        return .none
    }

    /// Returns the first element of an array, or the name of the first member of an object. The container must not be
    /// empty.
    func firstChild(of node: Node) -> Node { Node(index: node.index + 1) }

    /// Returns the value after a value that is not the last in its container.
    func sibling(of node: Node) -> Node { Node(index: Int(tape[node.index].next)) }

    /// Returns the element at an index; nil if there is none or the node is not an array.
    func element(_ index: Int, of node: Node) -> Node? {
        guard kind(of: node) == .array, index >= 0, index < count(of: node) else { return nil }
        var elements = elements(of: node).makeIterator()
        for _ in 0..<index { _ = elements.next() }
        return elements.next()
    }

    /// A sequence of the elements of an array.
    package struct Elements: Sequence, IteratorProtocol, Sendable {
        fileprivate let document: JSONDocument
        fileprivate var position: Int
        fileprivate let end: Int

        package mutating func next() -> Node? {
            guard position < end else { return nil }
            let node = Node(index: position)
            position = Int(document.tape[position].next)
            return node
        }
    }

    /// A sequence of the members of an object.
    package struct Members: Sequence, IteratorProtocol, Sendable {
        fileprivate let document: JSONDocument
        fileprivate var position: Int
        fileprivate let end: Int

        package mutating func next() -> (key: Node, value: Node)? {
            guard position < end else { return nil }
            let key = Node(index: position)
            let value = Node(index: position + 1)
            position = Int(document.tape[position + 1].next)
            return (key, value)
        }
    }
}
