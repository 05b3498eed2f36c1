import Foundation

/// Searches for a secret in the output of printing, `dump` and a crash.
final class SecretSearch {
    /// Only letters and digits, so that no encoding but Base64 hides it.
    let secret: String
    /// The places in which the secret was found.
    private(set) var sightings: [String] = []
    /// The number of texts that have been searched.
    private(set) var count = 0

    init(_ secret: String = "Zq7pLaNtEd9xW4vB") {
        self.secret = secret
    }

    /// Prints a value in all possible ways.
    func look(_ label: String, _ value: Any?) {
        guard let value else { return }
        var dumped = ""
        dump(value, to: &dumped)
        read("\(label), described", "\(value)")
        // The output of a trap and of an uncaught error.
        read("\(label), reflected", String(reflecting: value))
        read("\(label), dumped", dumped)
    }

    func read(_ label: String, _ text: String) {
        count += 1
        guard encodings.contains(where: text.contains) || holdsBytes(text) else { return }
        sightings.append("\(label): \(text.prefix(600))")
    }

    /// The secret, and the Base64 encoding of its middle at each offset.
    private var encodings: [String] {
        [secret]
            + (0..<3).map { offset in
                let text = (Data(repeating: 0x3A, count: offset) + Data(secret.utf8)).base64EncodedString()
                let whole = (offset + secret.utf8.count) / 3 * 4
                return String(text.prefix(whole).dropFirst(offset == 0 ? 0 : 4))
            }
    }

    /// True if the bytes appear as numbers, as `dump` prints data.
    private func holdsBytes(_ text: String) -> Bool {
        let numbers = text.utf8.split { !(UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
            .map { UInt8(String(Substring($0))) ?? 0 }
        return numbers.contains(Array(secret.utf8))
    }
}
