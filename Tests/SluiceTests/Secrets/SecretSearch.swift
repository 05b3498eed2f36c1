import Foundation

/// Looks for one secret in all that printing, `dump` and a crash show.
final class SecretSearch {
    /// Letters and digits, so that no encoding but Base64 hides it.
    let secret: String
    /// Where it was seen.
    private(set) var sightings: [String] = []
    /// How many texts have been looked through.
    private(set) var count = 0

    init(_ secret: String = "Zq7pLaNtEd9xW4vB") {
        self.secret = secret
    }

    /// Prints a value in all ways there are.
    func look(_ what: String, _ value: Any?) {
        guard let value else { return }
        var dumped = ""
        dump(value, to: &dumped)
        read("\(what), described", "\(value)")
        // What a trap and an error that nobody catches print.
        read("\(what), reflected", String(reflecting: value))
        read("\(what), dumped", dumped)
    }

    func read(_ what: String, _ text: String) {
        count += 1
        guard disguises.contains(where: text.contains) || holdsBytes(text) else { return }
        sightings.append("\(what): \(text.prefix(600))")
    }

    /// The secret, and what Base64 makes of its middle wherever it stands.
    private var disguises: [String] {
        [secret]
            + (0..<3).map { offset in
                let text = (Data(repeating: 0x3A, count: offset) + Data(secret.utf8)).base64EncodedString()
                let whole = (offset + secret.utf8.count) / 3 * 4
                return String(text.prefix(whole).dropFirst(offset == 0 ? 0 : 4))
            }
    }

    /// Whether the bytes are there one by one, as `dump` shows those of data.
    private func holdsBytes(_ text: String) -> Bool {
        let numbers = text.utf8.split { !(UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
            .map { UInt8(String(Substring($0))) ?? 0 }
        return numbers.contains(Array(secret.utf8))
    }
}
