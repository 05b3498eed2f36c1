#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension LenientDecoder {
    /// The maximum number of members for which a linear search is used instead of a dictionary.
    private static let tableThreshold = 16

    /// Returns the value of a member of this object; nil if there is none.
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

    /// Returns the value of a member of this object; nil if there is none or it is null.
    @inline(__always)
    func presentMember(_ name: String) -> Node? {
        guard let node = member(name), input.kind(of: node) != .null else { return nil }
        return node
    }

    /// The unique names of this object's members, in order.
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

    /// Returns the conversion of this object's names by the key decoding strategy; nil for none.
    private func nameConversion() -> ((String) -> String)? {
        // The keys of a dictionary are data and are not converted.
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

/// A dictionary with string keys, which a key decoding strategy does not convert.
private protocol StringKeyedDictionary {}

extension Dictionary: StringKeyedDictionary where Key == String, Value: Decodable {}

extension String {
    /// The name converted from snake case to camel case as by `JSONDecoder`: `__one_two_THREE_` is `__oneTwoThree_`.
    fileprivate var convertedFromSnakeCase: String {
        let leading = prefix { $0 == "_" }
        let rest = self[leading.endIndex...]
        let trailing = rest.reversed().prefix { $0 == "_" }.count
        let words = rest.dropLast(trailing).split(separator: "_")
        guard let first = words.first, words.count > 1 else { return self }
        return leading + first.lowercased() + words.dropFirst().map(\.capitalized).joined() + rest.suffix(trailing)
    }
}
