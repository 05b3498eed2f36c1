/// A name of a file that may stand in any folder of any system, whatever a server made of it.
///
/// It is one component of a path, is not hidden, shows in the order in which it is read, means nothing special to Windows, and
/// has room for a number in the 255 bytes that file systems give a name.
struct SafeFileName: Sendable, Hashable {
    /// In UTF-8; what numbering adds is beyond it.
    static let limit = 240
    /// The name of what has none.
    static let fallback = "download"

    let value: String

    /// Makes any text safe; what is left of nothing is `download`.
    init(_ text: String) {
        // Of a path, whichever system's, the last component.
        let component = text.unicodeScalars.split { $0 == "/" || $0 == "\\" }.last
        var scalars = String.UnicodeScalarView()
        for scalar in component ?? "".unicodeScalars[...] where !scalar.isDeceptive {
            scalars.append(scalar.isReserved ? "_" : scalar)
        }
        let name = String(scalars)[...].trimmed
        guard !name.isEmpty else {
            value = Self.fallback
            return
        }
        let cut = FileNameParts(Self.harmless(name)[...]).joined(within: Self.limit)
        // A character too long for a name may have been all that made it another than a device's.
        value = Self.harmless(cut[...])
    }

    private static func harmless(_ name: Substring) -> String {
        FileNameParts(name).isDevice ? "_\(name)" : String(name)
    }

    /// The name with a number between stem and extension: `name 2.ext`.
    func numbered(_ number: Int) -> String {
        FileNameParts.numbered(value, number)
    }
}

/// A name of a file and what it ends with.
struct FileNameParts {
    let stem: Substring
    /// With its dot; `.tar.gz` is one.
    let ending: Substring

    init(_ name: Substring) {
        var start = name.endIndex
        if let dot = name.utf8.lastIndex(of: UInt8(ascii: ".")), dot > name.startIndex {
            let ending = name[dot...].utf8
            if (2...20).contains(ending.count), !ending.contains(UInt8(ascii: " ")) { start = dot }
            if name[..<start].hasSuffix(".tar"),
                let tar = name.utf8.index(start, offsetBy: -4, limitedBy: name.startIndex),
                tar > name.startIndex
            {
                start = tar
            }
        }
        stem = name[..<start]
        ending = name[start...]
    }

    /// Adds a number behind the stem, which is cut where the whole would be over the 255 bytes that a name may have.
    static func numbered(_ name: String, _ number: Int) -> String {
        FileNameParts(name[...]).joined(" \(number)", within: 255)
    }

    /// Whether Windows takes it for a device, whatever its extension is.
    var isDevice: Bool {
        let base = Substring(stem.unicodeScalars.prefix { $0 != "." }).trimmed.uppercased()
        if ["CON", "PRN", "AUX", "NUL", "CONIN$", "CONOUT$"].contains(base) { return true }
        let scalars = base.unicodeScalars
        guard scalars.count == 4, base.hasPrefix("COM") || base.hasPrefix("LPT"), let last = scalars.last else {
            return false
        }
        return "0123456789¹²³".unicodeScalars.contains(last)
    }

    /// Stem, something between and ending, within a number of bytes of UTF-8.
    ///
    /// The stem is cut between characters; where not even one has room, between the parts of a character.
    func joined(_ middle: String = "", within limit: Int) -> String {
        let room = max(1, limit - middle.utf8.count - ending.utf8.count)
        if stem.utf8.count <= room { return "\(stem)\(middle)\(ending)" }
        var end = stem.startIndex
        while end < stem.endIndex {
            let next = stem.index(after: end)
            if stem.utf8.distance(from: stem.startIndex, to: next) > room { break }
            end = next
        }
        if end == stem.startIndex {
            var count = 0
            end =
                stem.unicodeScalars.indices.first {
                    count += UTF8.width(stem.unicodeScalars[$0])
                    return count > room
                } ?? end
        }
        return "\(stem[..<end].trimmed)\(middle)\(ending)"
    }
}

extension Substring {
    /// Without dots and spaces around it: those in front hide a file, those behind are dropped by Windows.
    fileprivate var trimmed: Substring {
        let isDropped = { (scalar: Unicode.Scalar) in scalar == "." || scalar.properties.isWhitespace }
        var scalars = unicodeScalars.drop(while: isDropped)
        while let last = scalars.last, isDropped(last) { scalars.removeLast() }
        return Substring(scalars)
    }
}

extension Unicode.Scalar {
    /// Whether it is not seen and yet changes what is: controls, line ends, marks of direction, spaces without a width.
    fileprivate var isDeceptive: Bool {
        switch value {
        case 0x00...0x1F, 0x7F...0x9F, 0xAD, 0x61C, 0x180E, 0x200B, 0x200E, 0x200F, 0x2028...0x202E, 0x2060...0x206F,
            0xFEFF, 0xFFF9...0xFFFB:
            true
        default: properties.isNoncharacterCodePoint
        }
    }

    /// Whether Windows allows it in no name.
    fileprivate var isReserved: Bool { #"<>:"|?*"#.unicodeScalars.contains(self) }
}
