/// A dictionary of values by name that keeps insertion order. Setting an existing name replaces its value in place.
struct NamedValues<Value> {
    /// The maximum number of entries for which a linear search is used. It is faster than a dictionary and needs no
    /// memory.
    private static var scanned: Int { 16 }

    private(set) var entries: [(name: String, value: Value)] = []
    /// The position of each name. Used only above the limit for linear search.
    private var positions: [String: Int] = [:]

    subscript(name: String) -> Value? {
        position(of: name).map { entries[$0].value }
    }

    mutating func set(_ name: String, _ value: Value) {
        if let position = position(of: name) {
            entries[position].value = value
            return
        }
        entries.append((name, value))
        if entries.count == Self.scanned + 1 {
            index()
        } else if entries.count > Self.scanned {
            positions[name] = entries.count - 1
        }
    }

    mutating func remove(_ name: String) {
        guard let position = position(of: name) else { return }
        entries.remove(at: position)
        index()
    }

    private func position(of name: String) -> Int? {
        entries.count > Self.scanned ? positions[name] : entries.firstIndex { $0.name == name }
    }

    private mutating func index() {
        positions = [:]
        guard entries.count > Self.scanned else { return }
        for (position, entry) in entries.enumerated() { positions[entry.name] = position }
    }
}

extension NamedValues: Sendable where Value: Sendable {}
