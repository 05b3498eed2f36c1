/// Numbers that look random and are the same in all attempts of one sending, without anything kept of it.
///
/// A keyed hash of the sending's ID, which a process gives once: the key is random, so that other processes have other numbers, and
/// who has seen some cannot tell the next.
struct SendingSeed: Sendable {
    private let high: UInt64
    private let low: UInt64

    init(using generator: inout some RandomNumberGenerator) {
        high = generator.next()
        low = generator.next()
    }

    init() {
        var generator = SystemRandomNumberGenerator()
        self.init(using: &generator)
    }

    /// 128 bits of one sending.
    func numbers(of id: RequestID) -> (UInt64, UInt64) {
        (number(id, high), number(id, low))
    }

    private func number(_ id: RequestID, _ salt: UInt64) -> UInt64 {
        // Keyed by the process's own random seed as well.
        var hasher = Hasher()
        hasher.combine(salt)
        hasher.combine(id.rawValue)
        return UInt64(bitPattern: Int64(hasher.finalize()))
    }
}
