#if os(Linux)
import SluiceTesting
import Testing

/// Runs random operations on a pool whose connections carry several requests at a time.
struct SharedPoolTests {
    @Test(arguments: 0..<1000 as Range<UInt64>)
    func losesNoRequestOrSlot(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        var input: [UInt8] = (0..<2).map { _ in UInt8.random(in: 0x30...0x39, using: &random) }
        for _ in 0..<Int(10 + seed / 4) {
            input.append(UInt8.random(in: 0x61...0x70, using: &random))
            input += (0..<2).map { _ in UInt8.random(in: 0x30...0x39, using: &random) }
        }
        do {
            try input.withUnsafeBytes { try FuzzTarget.sharedPool.check($0) }
        } catch {
            Issue.record("\(error) \(String(decoding: input, as: UTF8.self))")
        }
    }
}
#endif
