#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension LenientDecoder {
    /// Up to so many members it is quicker to compare their names than to make a table of them.
    private static let tableThreshold = 16

    /// The value of this object's member; nil if there is none.
    func member(_ name: String) -> Node? {
        if let members { return members[name] }
        guard input.convertsNames || input.document.count(of: node) > Self.tableThreshold else {
            return input.document.member(name, of: node)
        }
        var members: [String: Node] = [:]
        members.reserveCapacity(input.document.count(of: node))
        forEachMember { name, value in
            if members[name] == nil { members[name] = value }
        }
        self.members = members
        return members[name]
    }

    /// The value of this object's member; nil if there is none or it is null.
    @inline(__always)
    func presentMember(_ name: String) -> Node? {
        guard let node = member(name), input.kind(of: node) != .null else { return nil }
        return node
    }

    /// The names of this object's members in their order, each once.
    var names: [String] {
        var seen: Set<String> = []
        var names: [String] = []
        forEachMember { name, _ in
            if seen.insert(name).inserted { names.append(name) }
        }
        return names
    }

    private func forEachMember(_ body: (String, Node) -> Void) {
        let convert = nameConversion()
        for (key, value) in input.document.members(of: node) {
            let name = input.document.string(of: key)
            body(convert?(name) ?? name, value)
        }
    }

    /// What the strategy does to this object's names; nil for nothing.
    private func nameConversion() -> ((String) -> String)? {
        // The keys of a dictionary are data.
        guard input.convertsNames, !(type is any StringKeyedDictionary.Type) else { return nil }
        switch input.decoder.keyDecodingStrategy {
        case .useDefaultKeys:
            return nil
        case .convertFromSnakeCase:
            let memory = input.memory
            return { name in
                if let known = memory.names[name] { return known }
                let converted = name.convertedFromSnakeCase
                memory.names[name] = converted
                return converted
            }
        case .custom(let convert):
            let path = codingPath
            return { name in convert(path + [LenientName(name)]).stringValue }
        @unknown default:
            return nil
        }
    }
}

/// A dictionary whose keys are strings, which a key decoding strategy leaves alone.
private protocol StringKeyedDictionary {}

extension Dictionary: StringKeyedDictionary where Key == String, Value: Decodable {}

extension String {
    /// The name in camel case, as `JSONDecoder` makes it of snake case: `__one_two_THREE_` is `__oneTwoThree_`.
    fileprivate var convertedFromSnakeCase: String {
        let leading = prefix { $0 == "_" }
        let rest = self[leading.endIndex...]
        let trailing = rest.reversed().prefix { $0 == "_" }.count
        let words = rest.dropLast(trailing).split(separator: "_")
        guard let first = words.first, words.count > 1 else { return self }
        return leading + first.lowercased() + words.dropFirst().map(\.capitalized).joined() + rest.suffix(trailing)
    }
}
