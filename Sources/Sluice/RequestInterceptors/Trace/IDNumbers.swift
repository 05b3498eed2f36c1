import Synchronization

/// Numbers for IDs, some nanoseconds each, where the system's take a call into the kernel.
///
/// SplitMix64: a counter that steps by an odd number, so that it comes round to no number twice in 2^64 calls, and a function that
/// mixes its bits and has an inverse. The counter begins with a random number of the system's.
final class IDNumbers: Sendable {
    /// The process's.
    static let shared = IDNumbers()

    private let counter = Atomic<UInt64>(.random(in: .min ... .max))

    private init() {}

    /// The next number.
    @Sendable func next() -> UInt64 {
        var bits = counter.wrappingAdd(0x9E37_79B9_7F4A_7C15, ordering: .relaxed).newValue
        bits = (bits ^ (bits >> 30)) &* 0xBF58_476D_1CE4_E5B9
        bits = (bits ^ (bits >> 27)) &* 0x94D0_49BB_1331_11EB
        return bits ^ (bits >> 31)
    }
}
