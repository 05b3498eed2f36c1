import SluiceFoundation
import SluiceHTTP

/// The key of a cache entry: its space, partition and name.
///
/// Names and partitions are compared byte by byte, so that canonically equivalent strings are different keys.
public struct CacheKey: Sendable, Hashable {
    /// The kinds of entries. Entries of different spaces are independent.
    public enum Space: Int, Sendable, Hashable, CaseIterable {
        /// Values in memory and storage: ``CacheStore/memoryAndDisk``.
        case values = 0
        /// Values in memory only: ``CacheStore/memory``. They are never passed to a ``CacheStorage``.
        case memoryValues = 1
        /// Responses stored for a ``DataSource``.
        case responses = 2
        /// Responses stored by the HTTP cache (RFC 9111).
        case http = 3
    }

    /// The kind of entry.
    public let space: Space
    /// The partition, such as a user's name; empty for the shared partition.
    public let partition: String
    /// The name within its space and partition.
    public let name: String

    /// Creates a key.
    public init(_ name: String, in space: Space = .values, partition: String = "") {
        self.name = name
        self.space = space
        self.partition = partition
    }

    /// Returns true if both keys have the same space, and partitions and names with the same bytes.
    public static func == (lhs: CacheKey, rhs: CacheKey) -> Bool {
        lhs.space == rhs.space && lhs.name.hasBytes(of: rhs.name) && lhs.partition.hasBytes(of: rhs.partition)
    }

    /// Hashes the name, and the partition if it is not empty. The space is omitted because few names occur in several
    /// spaces.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(name)
        if !partition.isEmpty { hasher.combine(partition) }
    }
}

extension CacheKey: CustomReflectable, RedactedMirror {
    /// The name without secrets, because the name of a response may be its URL.
    package var shown: [Mirror.Child] { [("space", space), ("name", SecretRules.usual.url(name))] }
}

/// A selection of entries: those that meet all of its conditions.
public struct CacheSelection: Sendable, Hashable {
    /// The spaces; nil for all.
    public var spaces: Set<CacheKey.Space>?
    /// The partition; nil for all.
    public var partition: String?
    /// The name; nil for all.
    public var name: String?
    /// The variant; nil for all.
    public var variant: String?
    /// A tag; nil for entries with any tags or none.
    public var tag: String?
    /// The time at which the entries have expired; nil for all.
    public var expired: Date?

    /// Creates a selection of all entries. Set its properties to narrow it.
    public init() {}

    /// Creates a selection of the entries under a key.
    public init(_ key: CacheKey, variant: String? = nil) {
        spaces = [key.space]
        partition = key.partition
        name = key.name
        self.variant = variant
    }

    /// The key, if the selection consists of a key and optionally a variant.
    package var key: CacheKey? {
        guard let spaces, spaces.count == 1, let space = spaces.first, let partition, let name else { return nil }
        return tag == nil && expired == nil ? CacheKey(name, in: space, partition: partition) : nil
    }

    /// Returns true if the selection contains an entry.
    public func contains(_ entry: CacheEntry) -> Bool {
        guard contains(entry.key, tags: entry.tags) else { return false }
        if let variant, !variant.hasBytes(of: entry.variant) { return false }
        if let expired { return entry.expires.map { $0 <= expired } ?? false }
        return true
    }

    /// Returns true if the selection contains an entry with a key and tags, whatever its variant and expiration.
    func contains(_ key: CacheKey, tags: Set<String>) -> Bool {
        if let spaces, !spaces.contains(key.space) { return false }
        // Compared byte by byte, as storage does: canonically equivalent strings differ.
        if let partition, !partition.hasBytes(of: key.partition) { return false }
        if let name, !name.hasBytes(of: key.name) { return false }
        if let tag, !tags.contains(where: { $0.hasBytes(of: tag) }) { return false }
        return true
    }
}

// MARK: - Vary field

/// The request header fields that select a response (RFC 9110 §12.5.5).
package enum VaryField: Sendable, Hashable {
    /// No header field.
    case nothing
    /// `*`: no other request matches.
    case anything
    /// These fields in lowercase, sorted, without duplicates.
    case fields([String])

    package init(_ headers: HTTPHeaders) {
        guard headers.contains(.vary) else {
            self = .nothing
            return
        }
        var names: Set<String> = []
        for line in headers.values(for: .vary) {
            for name in FieldElements(line.utf8[...]) {
                // A member that is not a field name may still have a meaning for the server.
                guard name.isToken, !name.elementsEqual("*".utf8) else {
                    self = .anything
                    return
                }
                names.insert(Substring(name).lowercased())
            }
        }
        self = names.isEmpty ? .nothing : .fields(names.sorted())
    }

    /// Returns the secondary cache key of a response (RFC 9111 §4.1). It is a digest, because the field values may be
    /// secrets.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - identity: The digest of the credentials that the response is for; nil for anyone.
    /// - Returns: The key, empty if the response does not vary and has no identity; nil if no other request can match.
    func variant(of request: HTTPRequest, identity: String?) -> String? {
        switch self {
        case .anything:
            return nil
        case .nothing:
            return Self.plainVariant(identity)
        case .fields(let names):
            guard let digest = Self.digest(of: names, in: request.headers) else { return nil }
            return identity.map { "\(digest).\($0)" } ?? digest
        }
    }

    /// Returns the variant of a response without a `Vary` field.
    static func plainVariant(_ identity: String?) -> String { identity.map { ".\($0)" } ?? "" }

    /// True if `Vary` names one of these fields or is `*`.
    func names(anyOf hidden: [HTTPHeaderName]) -> Bool {
        switch self {
        case .nothing: false
        case .anything: true
        case .fields(let names): hidden.contains { names.contains($0.rawValue.lowercased()) }
        }
    }

    /// Returns a digest of the values of fields; nil if there is no hash function.
    package static func digest(of names: [String], in headers: HTTPHeaders) -> String? {
        var bytes: [UInt8] = []
        for name in names {
            let field = HTTPHeaderName(name)
            append(Array(name.utf8), to: &bytes)
            // An absent field matches only an absent field, not an empty one.
            guard headers.contains(field) else {
                bytes.append(0)
                continue
            }
            bytes.append(1)
            append(SelectingField.normalized(headers.fieldValues(for: field), of: name), to: &bytes)
        }
        return SystemSHA256.hexDigest(of: bytes)
    }

    /// Appends the text after its length, so that different lists never produce the same bytes.
    private static func append(_ text: [UInt8], to bytes: inout [UInt8]) {
        withUnsafeBytes(of: UInt64(text.count).littleEndian) { bytes += $0 }
        bytes += text
    }
}

/// The normalization of request header fields that `Vary` names (RFC 9111 §4.1).
///
/// Too little normalization costs an extra request; too much serves the response to another request. Therefore only
/// differences without a meaning in the definition of the field are removed.
enum SelectingField {
    /// Returns the normalized value of the lines of a field.
    ///
    /// - Parameters:
    ///   - lines: The field values.
    ///   - name: The field name in lowercase.
    /// - Returns: The normalized value. For most fields, these are the trimmed lines joined by commas.
    static func normalized(_ lines: [FieldValue], of name: String) -> [UInt8] {
        switch name {
        case "accept-encoding":
            // The order of the codings has no meaning (RFC 9110 §12.5.3).
            let members = members(of: lines).map(lowercased)
            return joined(members.sorted { $0.lexicographicallyPrecedes($1) })
        case "accept-language", "accept-charset":
            // Many servers treat the order of languages as their preference (RFC 9110 §12.5.4).
            return joined(members(of: lines).map(lowercased))
        case "accept":
            // The values of media type parameters may be case-sensitive (RFC 9110 §8.3.1).
            return joined(
                members(of: lines).map { member in
                    let end = member.firstIndex(of: UInt8(ascii: ";")) ?? member.endIndex
                    return lowercased(Array(member[..<end])) + member[end...]
                }
            )
        default:
            return Array(lines.map { Array($0.bytes[...].trimmed) }.joined(separator: ", ".utf8))
        }
    }

    private static func joined(_ members: [[UInt8]]) -> [UInt8] {
        Array(members.joined(separator: [UInt8(ascii: ",")]))
    }

    private static func lowercased(_ bytes: [UInt8]) -> [UInt8] {
        bytes.map(\.asciiLowercased)
    }

    /// Returns the non-empty members of a list (RFC 9110 §5.6.1) without white space outside quoted strings.
    private static func members(of lines: [FieldValue]) -> [[UInt8]] {
        lines.flatMap { line in
            FieldElements(line.bytes[...], quotes: .escaped).map { element in
                var isQuoted = false
                var isEscaped = false
                return element.filter { byte in
                    if byte == UInt8(ascii: "\""), !isEscaped { isQuoted.toggle() }
                    isEscaped = isQuoted && !isEscaped && byte == UInt8(ascii: "\\")
                    return isQuoted || !byte.isBlank
                }
            }
        }
    }
}
