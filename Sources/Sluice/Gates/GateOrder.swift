import SluiceHTTP

/// Checks the order in which gates that hold nothing are asked, given the gates they need.
enum GateOrder {
    /// The reason why the gates can never all be asked: a needed gate is missing, or the needs
    /// form a cycle. Nil if they can.
    static func failure(of gates: [any Gate]) -> SluiceError? {
        guard gates.contains(where: { !$0.needs.isEmpty }) else { return nil }
        let names = Set(gates.map(\.name))
        for gate in gates {
            if let missing = gate.needs.subtracting(names).min() { return .gateNeeds(gate.name, missing: missing) }
        }
        var left = gates
        while true {
            let ready = ready(left)
            if ready.isEmpty { break }
            left.removeAll { gate in ready.contains(gate.name) }
        }
        return left.isEmpty ? nil : .gatesNeedEachOther(left.map(\.name))
    }

    /// The names of the gates that need none of the others.
    private static func ready(_ gates: [any Gate]) -> Set<String> {
        let names = Set(gates.map(\.name))
        return Set(gates.filter { $0.needs.isDisjoint(with: names) }.map(\.name))
    }
}
