import SluiceFoundation
import SluiceHTTP

/// A search for secrets in a body that is not text and arrives piece by piece.
///
/// It finds the secret names of at least five letters wherever they stand, and all other secrets in runs of printable
/// characters. In the millions of bytes of a compressed body, shorter names and signs occur by chance.
///
/// A gzip or zlib file is searched decompressed, and a text in it also for names of fewer letters. Zstandard is not decompressed, nor is
/// a compressed file in another. Other formats are not recognized.
package struct BinaryBodySearch {
    /// The number of bytes that are searched again with the next piece, because a secret may continue in it.
    private static let overlap = 512
    /// The minimum length of a run of printable characters that is searched.
    private static let minimumRun = 16
    /// The maximum decompressed length that is searched, in bytes.
    private static let decompressedLimit = 32 << 20

    private let rules: SecretRules
    /// The decompressor of a compressed file; nil for any other body.
    private let inflater: Inflater?
    private var decompressed = 0
    /// The last bytes that have been searched.
    private var end = Data()
    /// True if a secret has been found, or if the body is compressed and cannot be searched.
    package private(set) var mayHaveSecret = false

    /// Creates a search.
    ///
    /// - Parameters:
    ///   - beginning: The beginning of the body, which is searched. It has at least four bytes, unless the body is shorter.
    ///   - rules: The rules that identify secrets.
    init(_ beginning: Data, _ rules: SecretRules) {
        self.rules = rules
        let isCompressed = DocumentRedactor.isCompressed(beginning)
        inflater = isCompressed ? Inflater() : nil
        if isCompressed, inflater == nil { mayHaveSecret = true }
        append(beginning)
    }

    package mutating func append(_ piece: Data) {
        guard !mayHaveSecret else { return }
        guard let inflater else { return search(piece) }
        let isSearched = inflater.decompress(piece) { piece in
            if decompressed == 0, DocumentRedactor.isCompressed(piece) { return false }
            decompressed += piece.count
            search(piece)
            return !mayHaveSecret && decompressed <= Self.decompressedLimit
        }
        if !isSearched { mayHaveSecret = true }
    }

    private mutating func search(_ piece: Data) {
        let bytes = Array(end + piece)
        end = Data(bytes.suffix(Self.overlap))
        mayHaveSecret =
            rules.memberNames.occur(in: bytes) || rules.headerNames.occur(in: bytes) || containsSecretText(bytes)
    }

    private func containsSecretText(_ bytes: [UInt8]) -> Bool {
        let isText = inflater != nil && Self.isText(bytes)
        var start = 0
        for index in 0...bytes.count where index == bytes.count || !Self.isPrintable(bytes[index]) {
            let run = bytes[start..<index]
            start = index + 1
            if run.isEmpty || !isText && run.count < Self.minimumRun { continue }
            let text = Array(run)
            if SecretScanner.containsSecret(text, rules) { return true }
            if isText, SecretScanner.containsSecretName(text, rules, amongParameters: true) { return true }
        }
        return false
    }

    /// Returns true if few bytes are control characters, apart from NUL, which pads archives.
    private static func isText(_ bytes: [UInt8]) -> Bool {
        bytes.count { $0 != 0 && $0 < 0x80 && !isPrintable($0) } * 50 < bytes.count
    }

    private static func isPrintable(_ byte: UInt8) -> Bool { (0x20...0x7E).contains(byte) || (9...13).contains(byte) }
}
