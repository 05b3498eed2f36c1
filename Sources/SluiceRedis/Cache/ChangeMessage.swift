#if os(Linux)
import SluiceCache
import SluiceFoundation
import SluiceHTTP

/// A message from one process to all others that share a cache.
enum ChangeMessage: Sendable, Equatable {
    /// A generation that a removal has begun, by its name on the server.
    struct Generation: Sendable, Equatable {
        let name: String
        let generation: CacheGeneration
    }

    /// An entry was stored under this key.
    case stored(CacheKey)
    /// Entries were removed.
    case removed(CacheSelection, [Generation])
    /// A lease was released, by its name on the server.
    case released(String)

    private static let version: UInt8 = 1

    /// The bytes of the message.
    var encoded: Data {
        var writer = EntryHeadWriter()
        writer.append(Self.version)
        switch self {
        case .stored(let key):
            writer.append(UInt8(1))
            writer.append(UInt8(key.space.rawValue))
            writer.append(key.partition)
            writer.append(key.name)
        case .removed(let selection, let generations):
            writer.append(UInt8(2))
            writer.append(selection)
            writer.append(UInt16(clamping: generations.count))
            for generation in generations {
                writer.append(generation.name)
                writer.append(generation.generation.value)
            }
        case .released(let name):
            writer.append(UInt8(3))
            writer.append(name)
        }
        return Data(writer.bytes)
    }

    /// Decodes a message; nil if the bytes are incomplete, too long or of another version.
    init?(_ bytes: Data) {
        let message = bytes.withUnsafeBytes { bytes -> ChangeMessage? in
            var reader = EntryHeadReader(bytes)
            guard reader.integer(UInt8.self) == Self.version, let message = Self.message(&reader), reader.isAtEnd else {
                return nil
            }
            return message
        }
        guard let message else { return nil }
        self = message
    }

    private static func message(_ reader: inout EntryHeadReader) -> ChangeMessage? {
        switch reader.integer(UInt8.self) {
        case 1:
            guard let space = reader.integer(UInt8.self).flatMap({ CacheKey.Space(rawValue: Int($0)) }),
                let partition = reader.string(), let name = reader.string()
            else { return nil }
            return .stored(CacheKey(name, in: space, partition: partition))
        case 2:
            guard let selection = reader.selection(), let count = reader.integer(UInt16.self) else { return nil }
            var generations: [Generation] = []
            for _ in 0..<count {
                guard let name = reader.string(), let value = reader.integer(Int64.self) else { return nil }
                generations.append(Generation(name: name, generation: CacheGeneration(value: value)))
            }
            return .removed(selection, generations)
        case 3: return reader.string().map(ChangeMessage.released)
        default: return nil
        }
    }
}

extension EntryHeadWriter {
    /// Appends a selection without its expiration: a removal of expired entries is no message.
    fileprivate mutating func append(_ selection: CacheSelection) {
        var spaces: UInt8 = 0xFF
        if let selected = selection.spaces { spaces = selected.reduce(0) { $0 | 1 << UInt8($1.rawValue) } }
        append(spaces)
        for text in [selection.partition, selection.name, selection.variant, selection.tag] {
            append(UInt8(text == nil ? 0 : 1))
            if let text { append(text) }
        }
    }
}

extension EntryHeadReader {
    fileprivate mutating func selection() -> CacheSelection? {
        var selection = CacheSelection()
        guard let spaces = integer(UInt8.self) else { return nil }
        if spaces != 0xFF {
            selection.spaces = Set(CacheKey.Space.allCases.filter { spaces & 1 << UInt8($0.rawValue) != 0 })
        }
        for property in [\CacheSelection.partition, \.name, \.variant, \.tag] {
            switch integer(UInt8.self) {
            case 0: continue
            case 1:
                guard let text = string() else { return nil }
                selection[keyPath: property] = text
            default: return nil
            }
        }
        return selection
    }
}
#endif
