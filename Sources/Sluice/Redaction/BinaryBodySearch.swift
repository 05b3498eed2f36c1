import SluiceFoundation
import SluiceHTTP

/// A search for secrets in a body that is not text and arrives piece by piece.
///
/// It finds the secret names of at least five letters wherever they stand, and all other secrets in runs of printable
/// characters. In the millions of bytes of a compressed body, shorter names and signs occur by chance.
package struct BinaryBodySearch {
    /// The number of bytes that are searched again with the next piece, because a secret may continue in it.
    private static let overlap = 512
    /// The minimum length of a run of printable characters that is searched.
    private static let minimumRun = 16

    private let rules: SecretRules
    /// The last bytes that have been searched.
    private var end = Data()
    /// True if a secret has been found.
    package private(set) var hasSecret = false

    init(_ rules: SecretRules) {
        self.rules = rules
    }

    /// Searches the next piece.
    package mutating func append(_ piece: Data) {
        guard !hasSecret else { return }
        let bytes = Array(end + piece)
        end = Data(bytes.suffix(Self.overlap))
        hasSecret =
            rules.memberNames.occur(in: bytes) || rules.headerNames.occur(in: bytes) || containsSecretText(bytes)
    }

    private func containsSecretText(_ bytes: [UInt8]) -> Bool {
        var start = 0
        for index in 0...bytes.count where index == bytes.count || !Self.isPrintable(bytes[index]) {
            let run = bytes[start..<index]
            if run.count >= Self.minimumRun, SecretScanner.containsSecret(Array(run), rules) { return true }
            start = index + 1
        }
        return false
    }

    private static func isPrintable(_ byte: UInt8) -> Bool { (0x20...0x7E).contains(byte) || (9...13).contains(byte) }
}
