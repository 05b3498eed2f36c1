/// The journal of a partial file, as it is stored next to it.
struct PartJournal: Codable, Sendable, Hashable {
    static let currentVersion = 1
    /// The maximum length in bytes. A longer file is not a journal.
    static let limit = 1 << 20

    var version = currentVersion
    var resource: RemoteResource
    /// The bytes that were written. They are reliable until the system restarts.
    var completed: ByteRanges
    /// The bytes that were synced to the disk. They are reliable after a power failure too.
    var synced: ByteRanges
    /// The boot of the system in which the journal was written; nil if the system has no identifier.
    var bootID: String?

    /// Returns the bytes of the partial file that are reliable.
    ///
    /// - Parameters:
    ///   - partLength: The length of the partial file, in bytes.
    ///   - bootID: The identifier of the current boot.
    /// - Returns: The bytes; nil if the journal has another version, or describes more bytes than there are.
    func trusted(partLength: Int64, bootID: String?) -> ByteRanges? {
        guard version == Self.currentVersion, resource.length ?? 0 >= 0 else { return nil }
        let isSameBoot = bootID != nil && self.bootID == bootID
        let ranges = isSameBoot ? completed : synced
        guard ranges.end <= min(partLength, resource.length ?? .max) else { return nil }
        return ranges
    }
}

extension PartJournal {
    /// Decodes the version first, because other versions may have other members.
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
