/// What is known of a part, as it is written beside it.
struct PartJournal: Codable, Sendable, Hashable {
    static let currentVersion = 1
    /// In bytes; a longer file is none of ours.
    static let limit = 1 << 20

    var version = currentVersion
    var resource: RemoteResource
    /// What had been written: as long as the system runs, that is as good as on the disk.
    var completed: ByteRanges
    /// What had been brought to the disk, and is there after a power failure too.
    var synced: ByteRanges
    /// Of the start of the system in which it was written; nil where that has none.
    var bootID: String?

    /// What of the part can be relied on.
    ///
    /// - Parameters:
    ///   - partLength: The length of the part's file, in bytes.
    ///   - bootID: Of the present start of the system.
    /// - Returns: Nil where the journal is of another version, or says more than there can be.
    func trusted(partLength: Int64, bootID: String?) -> ByteRanges? {
        guard version == Self.currentVersion, resource.length ?? 0 >= 0 else { return nil }
        let isSameBoot = bootID != nil && self.bootID == bootID
        let ranges = isSameBoot ? completed : synced
        guard ranges.end <= min(partLength, resource.length ?? .max) else { return nil }
        return ranges
    }
}

extension PartJournal {
    /// Reads a version before all else, since another's members may differ.
    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        version = try container.decode(Int.self, forKey: .version)
        guard version == Self.currentVersion else {
            throw DecodingError.dataCorruptedError(forKey: .version, in: container, debugDescription: "Not known.")
        }
        resource = try container.decode(RemoteResource.self, forKey: .resource)
        completed = try container.decode(ByteRanges.self, forKey: .completed)
        synced = try container.decode(ByteRanges.self, forKey: .synced)
        bootID = try container.decodeIfPresent(String.self, forKey: .bootID)
    }
}
