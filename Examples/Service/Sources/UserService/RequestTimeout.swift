/// The time-out of a caller, from `X-Request-Timeout: 1.5`, in seconds.
struct RequestTimeout: Sendable, Hashable {
    let duration: Duration

    /// Parses a number of seconds; nil if the text is not a positive number.
    init?(_ text: some StringProtocol) {
        guard let duration = Duration(seconds: text), duration > .zero else { return nil }
        self.duration = duration
    }
}

extension Duration {
    /// Parses a number of seconds, such as `1.5` or `0`; nil if the text is none.
    init?(seconds text: some StringProtocol) {
        // `Double` also accepts signs, exponents and names.
        guard text.utf8.allSatisfy({ (0x30...0x39).contains($0) || $0 == 0x2E }), let seconds = Double(text) else {
            return nil
        }
        // Limits the time to one year, which cannot overflow.
        self = .seconds(min(seconds, 31_536_000))
    }
}
