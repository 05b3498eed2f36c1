import SluiceFoundation

/// The address of a node, as clusters and sentinels announce it.
package struct NodeAddress: Sendable, Hashable {
    /// A host name or an IP address without brackets.
    package let host: String
    package let port: Int

    /// Creates an address, or returns nil if the host or the port cannot be one.
    package init?(host: String, port: Int) {
        let isHost = host.utf8.allSatisfy { byte in
            (0x21...0x7E).contains(byte) && byte != UInt8(ascii: "/") && byte != UInt8(ascii: "@")
        }
        guard isHost, (1...255).contains(host.utf8.count), host != "?", (1...65_535).contains(port) else { return nil }
        self.host = host
        self.port = port
    }
}

/// A node's error that names the node to ask instead: `MOVED 3999 10.0.0.7:6379` or `ASK 3999 10.0.0.7:6379`.
package struct Redirection: Sendable, Hashable {
    package let slot: HashSlot
    /// True for `ASK`, which concerns only this command and lets the map as it is.
    package let isAsk: Bool
    /// The node to ask.
    package let address: NodeAddress

    /// Parses an error of a server. Returns nil if it is no valid redirection.
    ///
    /// - Parameters:
    ///   - error: The error.
    ///   - host: The host of the node that sent it, which an empty host stands for.
    package init?(_ error: RedisReplyError, from host: String?) {
        guard error.prefix == "MOVED" || error.prefix == "ASK" else { return nil }
        let words = error.message.split(separator: " ")
        guard words.count == 2, let slot = Int(words[0]).flatMap({ HashSlot($0) }),
            let colon = words[1].lastIndex(of: ":"), let port = Int(words[1][words[1].index(after: colon)...])
        else { return nil }
        let name = String(words[1][..<colon])
        guard let address = NodeAddress(host: name.isEmpty ? host ?? "" : name, port: port) else { return nil }
        self.slot = slot
        self.address = address
        isAsk = error.prefix == "ASK"
    }
}

/// The nodes of a cluster and the slots that they own.
package struct SlotMap: Sendable {
    /// The number of primaries, and that of replicas, that a map has at most. Clusters have up to about 1000 nodes.
    package static let maximumNodes = 4096
    private static let unowned = UInt16.max

    /// The primaries, in the order of their first slots.
    package private(set) var primaries: [NodeAddress] = []
    /// The replicas. They know the map, also when their primaries are unavailable.
    package private(set) var replicas: Set<NodeAddress> = []
    /// For each slot the index of its primary.
    private var owners = [UInt16](repeating: unowned, count: HashSlot.count)
    private var indices: [NodeAddress: UInt16] = [:]
    /// For the preferred addresses of nodes those with their names.
    private var names: [NodeAddress: NodeAddress] = [:]

    /// Creates a map without nodes.
    package init() {}

    /// Parses the reply to `CLUSTER SLOTS`. Returns nil if it is another reply.
    ///
    /// - Parameters:
    ///   - reply: The reply: for each range its first and last slot, its primary and its replicas.
    ///   - host: The host of the node that sent it, which a missing host stands for.
    ///   - prefersNames: True to use the host name of a node also where the cluster prefers addresses, for the check of certificates.
    package init?(_ reply: RedisValue, from host: String?, prefersNames: Bool) {
        guard let ranges = reply.elements else { return nil }
        for range in ranges {
            guard let fields = range.elements, fields.count >= 2, let first = fields[0].int.flatMap({ HashSlot($0) }),
                let last = fields[1].int.flatMap({ HashSlot($0) }), first.number <= last.number
            else { return nil }
            for (position, node) in fields.dropFirst(2).enumerated() {
                // A node without a known host is left out. Another node redirects to it.
                guard let preferred = SlotMap.address(of: node, from: host) else { continue }
                let name = prefersNames ? SlotMap.name(of: node, port: preferred.port) : nil
                let address = name ?? preferred
                names[preferred] = name
                if position > 0 {
                    // No command goes to a replica, so those beyond the limit are left out.
                    if replicas.count < SlotMap.maximumNodes { replicas.insert(address) }
                } else {
                    guard let index = index(of: address) else { return nil }
                    for slot in first.number...last.number { owners[slot] = index }
                }
            }
        }
    }

    /// The primary of a slot, or nil if it is not known.
    package subscript(slot: HashSlot) -> NodeAddress? {
        let index = Int(owners[slot.number])
        return index < primaries.count ? primaries[index] : nil
    }

    /// The address with the name of a node, if the map has been created to prefer names and knows one.
    package func named(_ address: NodeAddress) -> NodeAddress { names[address] ?? address }

    /// Records the new primary of a slot. Does nothing if the map is full.
    package mutating func move(_ slot: HashSlot, to address: NodeAddress) {
        if let index = index(of: address) { owners[slot.number] = index }
    }

    private mutating func index(of address: NodeAddress) -> UInt16? {
        if let index = indices[address] { return index }
        guard primaries.count < SlotMap.maximumNodes else { return nil }
        let index = UInt16(primaries.count)
        primaries.append(address)
        indices[address] = index
        return index
    }

    /// Reads the address of a node: its preferred host, its port, its identity and, since Redis 7, further names.
    private static func address(of node: RedisValue, from host: String?) -> NodeAddress? {
        guard let fields = node.elements, fields.count >= 2, let port = fields[1].int else { return nil }
        let preferred = fields[0].word ?? ""
        return NodeAddress(host: preferred.isEmpty ? host ?? "" : preferred, port: port)
    }

    private static func name(of node: RedisValue, port: Int) -> NodeAddress? {
        guard let fields = node.elements, fields.count > 3 else { return nil }
        return hostname(in: fields[3]).flatMap { NodeAddress(host: $0, port: port) }
    }

    private static func hostname(in names: RedisValue) -> String? {
        if case .map(let entries) = names { return entries.first { $0.key.word == "hostname" }?.value.word }
        guard let pairs = names.elements else { return nil }
        return zip(pairs, pairs.dropFirst()).first { $0.0.word == "hostname" }?.1.word
    }
}

// MARK: - Hash slot

/// A hash slot of a cluster: one of 16,384 parts of the key space, each of which belongs to one primary.
package struct HashSlot: Sendable, Hashable {
    /// The number of slots of each cluster.
    package static let count = 16_384

    /// The number of the slot, from 0 to 16,383.
    package let number: Int

    /// Creates a slot from its number, or returns nil if there is no such slot.
    package init?(_ number: Int) {
        guard (0..<HashSlot.count).contains(number) else { return nil }
        self.number = number
    }

    /// Computes the slot of a key: the CRC16 of its hash tag, or of the whole key if it has none, modulo 16,384.
    ///
    /// A hash tag is the part between the first `{` and the next `}`, unless it is empty. Keys with the same tag have the same slot.
    package init(key: Data) {
        number = key.withUnsafeBytes { Int(HashSlot.crc16(HashSlot.tag(of: $0))) % HashSlot.count }
    }

    private static func tag(of key: UnsafeRawBufferPointer) -> Slice<UnsafeRawBufferPointer> {
        let whole = key[...]
        guard let open = whole.firstIndex(of: UInt8(ascii: "{")) else { return whole }
        let rest = whole[(open + 1)...]
        guard let close = rest.firstIndex(of: UInt8(ascii: "}")), close > rest.startIndex else { return whole }
        return rest[..<close]
    }

    /// Computes the CRC16 of the cluster specification (XMODEM: polynomial 0x1021, initial value 0, no reflection).
    private static func crc16(_ bytes: Slice<UnsafeRawBufferPointer>) -> UInt16 {
        bytes.reduce(0) { crc, byte in crc << 8 ^ table[Int(UInt8(crc >> 8) ^ byte)] }
    }

    private static let table: [UInt16] = (0..<256).map { index in
        (0..<8).reduce(UInt16(index) << 8) { crc, _ in crc & 0x8000 == 0 ? crc << 1 : crc << 1 ^ 0x1021 }
    }
}
