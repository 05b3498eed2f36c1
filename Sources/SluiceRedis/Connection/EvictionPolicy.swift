import SluiceFoundation

/// The treatment of a full memory by a server, as `INFO memory` tells it.
package struct EvictionPolicy: Sendable, Hashable {
    /// The limit of the memory in bytes; 0 for none.
    package var limit = 0
    /// The name of the policy, such as `allkeys-lru`.
    package var name = "noeviction"

    /// Parses the reply to `INFO memory`.
    package init(info: String) {
        for line in info.split(whereSeparator: \.isNewline) {
            guard let colon = line.firstIndex(of: ":") else { continue }
            let value = line[line.index(after: colon)...]
            switch line[..<colon] {
            case "maxmemory": limit = Int(value) ?? 0
            case "maxmemory_policy": name = String(value)
            default: continue
            }
        }
    }

    /// True if writes fail once the memory is full.
    package var refusesWrites: Bool { limit > 0 && name == "noeviction" }
}
